// The repository checks itself: what may import what, and which files there are. What is kept out of the code is checked in
// structure/code.test.ts. Every message says what to change. The layers are those of src/README.md; other rules are lists here.
import { describe, expect, test } from 'vitest';
import type { Provider } from '../src/vendors/kit/provider.ts';
import { expectNone } from './structure/expect-none.ts';
import { arrows, backwards } from './structure/graph.ts';
import * as project from './structure/project.ts';

/** Where each package may be imported; a place is a folder or a file. Types count as well. */
const PACKAGE_PLACES: Readonly<Record<string, readonly string[]>> = {
  '@fastify/busboy': ['src/http'],
  '@grpc/grpc-js': ['src/vendors/simulation', 'src/live/upstream/wire'],
  '@msgpack/msgpack': ['src/vendors/kyutai'],
  '@nats-io/jetstream': ['src/cluster/bus'],
  '@nats-io/kv': ['src/cluster/bus'],
  '@nats-io/transport-node': ['src/cluster/bus'],
  '@opentelemetry/api': ['src/runtime/telemetry/sdk-tracing.ts'],
  '@opentelemetry/core': ['src/runtime/telemetry/sdk-tracing.ts'],
  '@opentelemetry/exporter-trace-otlp-proto': ['src/runtime/telemetry/sdk-tracing.ts'],
  '@opentelemetry/resources': ['src/runtime/telemetry/sdk-tracing.ts'],
  '@opentelemetry/sdk-trace': ['src/runtime/telemetry/sdk-tracing.ts'],
  '@voxgate/client': ['src/console'],
  aws4: ['src/runtime/outbound', 'src/vendors/aws'],
  '@smithy/core': ['src/vendors/aws'],
  '@sinclair/typebox': [
    'src/accounts',
    'src/api',
    'src/cli',
    'src/config',
    'src/docs',
    'src/files/routes',
    'src/live',
    'src/money/routes',
    'src/node/routes',
    'src/vendors',
  ],
  '@preact/signals': ['src/console'],
  '@wasm-audio-decoders/flac': ['src/files/decoding'],
  '@wasm-audio-decoders/ogg-vorbis': ['src/files/decoding'],
  'better-sqlite3': ['src/accounts/people/store', 'src/money/store', 'src/node/store', 'src/store'],
  'codec-parser': ['src/files/decoding'],
  heroicons: ['src/console'],
  'mpg123-decoder': ['src/files/decoding'],
  marked: ['src/docs/pages/guides.ts'],
  nodemailer: ['src/accounts/people/mailer.ts'],
  'opus-decoder': ['src/audio/codecs/opus-decoder.ts', 'src/files/decoding'],
  pino: ['src/runtime/telemetry'],
  'pino-pretty': ['src/runtime/telemetry/log.ts'],
  'prom-client': ['src/runtime/telemetry'],
  preact: ['src/console'],
  protobufjs: ['src/vendors/kit/grpc/messages.ts'],
  'sherpa-onnx-node': ['src/recogniser/dictation'],
  soundswallower: ['src/recogniser/grammar'],
  'uWebSockets.js': ['src/http'],
  undici: ['src/live/upstream'],
  uplot: ['src/console'],
  bufferutil: ['src/live/upstream/wire'],
  ws: [
    'clients/typescript/src/live/node-web-socket.ts',
    'src/cli',
    'src/http',
    'src/vendors/simulation',
    'src/live/upstream',
  ],
  xstate: [
    'machines',
    'src/accounts',
    'src/live',
    'src/node/gateway.ts',
    'src/runtime/actors.ts',
    'src/runtime/actors.ts',
  ],
};

const CLIENT = 'clients/typescript/src';
const product = project.sourceFiles('machines', 'src', CLIENT);
const tools = project.sourceFiles('bin', 'scripts');
const tests = project.sourceFiles('bench', 'test');
const everything = [...product, ...tools, ...tests];

/** The files that some files lead to, themselves included. */
function reachable(starts: readonly string[]): ReadonlySet<string> {
  const byPath = new Map(everything.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const visit = (path: string) => {
    const file = byPath.get(path);
    if (file === undefined || reached.has(path)) return;
    reached.add(path);
    for (const reference of file.references) visit(project.target(file, reference) ?? '');
  };
  starts.forEach(visit);
  return reached;
}

/** What the client's `package.json` exports: programs elsewhere load these. */
const CLIENT_STARTS = ['index', 'node', 'microphone/microphone-worklet'].map((name) => `${CLIENT}/${name}.ts`);

/** What the console's pages load, and the types of what is no script. */
const CONSOLE_STARTS = ['main.tsx', 'docs.ts', 'theme.ts', 'assets.d.ts'].map((name) => `src/console/${name}`);

/** Rooms whose folders still import each other. A room that has become free of cycles leaves this list. */
const MUTUAL = ['src/accounts', 'src/live'];
const rooms = project
  .folders('src')
  .map((name) => `src/${name}`)
  .filter((room) => !MUTUAL.includes(room));

describe('imports', () => {
  const layers = new Map(project.layerMap().map(({ place, layer }) => [place, layer]));
  const highest = Math.max(...layers.values());

  test('go to lower layers of src/README.md only; folders of one layer stay separate', () => {
    const problems = product.flatMap((file) =>
      file.references.flatMap((reference) => {
        const from = project.placeOf(file.path);
        const path = project.target(file, reference);
        if (path === undefined) return [];
        const to = project.placeOf(path);
        const [fromLayer, toLayer] = [layers.get(from), layers.get(to)];
        if (from === to || fromLayer === undefined) return [];
        if (toLayer === undefined)
          return `${file.path}:${reference.line} imports ${path}; product code imports machines/ and src/ only.`;
        if (toLayer < fromLayer || fromLayer === highest) return [];
        return `${file.path}:${reference.line} imports ${path}: layer ${fromLayer} may not know layer ${toLayer}. Take it as an argument from src/node/gateway.ts, or move what both need to a lower layer.`;
      }),
    );
    expectNone(problems);
  });

  test('lead from machines/ to xstate and to their siblings only', () => {
    const problems = project.sourceFiles('machines').flatMap((file) =>
      file.references
        .filter((reference) => {
          const path = project.target(file, reference);
          return path === undefined ? project.packageOf(reference) !== 'xstate' : !path.startsWith('machines/');
        })
        .map(
          ({ specifier, line }) =>
            `${file.path}:${line} imports ${specifier}; declare a placeholder (machines/declared.ts) and provide it in src/.`,
        ),
    );
    expectNone(problems);
  });

  test('keep packages in the places that own them', () => {
    const used = new Set<string>();
    const problems = product.flatMap((file) =>
      file.references.flatMap((reference) => {
        const name = project.packageOf(reference);
        if (name === undefined) return [];
        const owners = PACKAGE_PLACES[name] ?? [];
        const owner = owners.find((place) => project.isWithin(file.path, [place]));
        used.add(`${name} ${owner}`);
        if (owner !== undefined) return [];
        return `${file.path}:${reference.line} imports ${name}, which belongs to: ${owners.join(', ') || 'nowhere yet'}. Go through that place, or add this one to PACKAGE_PLACES.`;
      }),
    );
    const idle = Object.entries(PACKAGE_PLACES).flatMap(([name, owners]) =>
      owners
        .filter((place) => !used.has(`${name} ${place}`))
        .map((place) => `${place} does not import ${name}: take it out of PACKAGE_PLACES.`),
    );
    expectNone([...problems, ...idle]);
  });

  test('keep the client separate, and nothing of the gateway imports it', () => {
    const isClient = (path: string) => project.isWithin(path, [CLIENT]);
    const problems = product.flatMap((file) =>
      file.references.flatMap((reference) => {
        const path = project.target(file, reference);
        if (path === undefined || isClient(file.path) === isClient(path)) return [];
        return `${file.path}:${reference.line} imports ${path}: the client stands alone; its types are generated by scripts/clients/typescript-types.ts.`;
      }),
    );
    expectNone(problems);
  });

  test('lead to files that exist, by their full name', () => {
    const problems = everything.flatMap((file) =>
      file.references.flatMap((reference) => {
        const path = project.target(file, reference);
        // dist/ is made by the build.
        if (path === undefined || path.startsWith('dist/') || project.exists(path)) return [];
        return `${file.path}:${reference.line} names ${reference.specifier}, and there is no ${path}.`;
      }),
    );
    expectNone(problems);
  });

  test.each(rooms)('between the folders of %s form no cycle', (room) => {
    const inside = product.filter(({ path }) => project.isWithin(path, [room]));
    expectNone(
      backwards(
        arrows(inside, (path) =>
          project.isWithin(path, [room]) ? path.slice(room.length + 1).split('/')[0] : undefined,
        ),
      ),
      `These imports run against the others of ${room}: move what both folders need into one that imports neither.`,
    );
  });

  test('form no cycle, including those of types', () => {
    const circles = project.circles(everything).map((paths) => `${[...paths, paths[0]].join(' → ')}`);
    expectNone(circles, 'Move what both need into a file that imports neither:');
  });
});

describe('the map in src/README.md', () => {
  test('lists machines/, every folder and every file of src/, each once', () => {
    const real = [
      'machines',
      ...new Set(product.map(({ path }) => project.placeOf(path)).filter((place) => place.startsWith('src/'))),
    ];
    expect(
      project
        .layerMap()
        .map(({ place }) => place)
        .sort(),
      'Bring the layer table of src/README.md up to date.',
    ).toEqual(real.sort());
  });

  test('names files and folders that exist', () => {
    expectNone(
      project
        .mapPaths()
        .filter((path) => !project.isThere(path))
        .map((path) => `src/README.md names \`${path}\`, which is not there.`),
    );
  });

  test('follows the order of the layers', () => {
    const layers = project.layerMap().map(({ layer }) => layer);
    expect(layers).toEqual([...layers].sort((a, b) => a - b));
  });
});

describe('a provider', () => {
  // What all share, the operator's own models, and vendors whose clients are served but who recognise no speech.
  const others = ['kit', 'custom', 'compat', 'simulation', 'livekit', 'telephony', 'vercel'];
  const names = project.folders('src/vendors').filter((name) => !others.includes(name));

  test.each(names)('%s has what it does in files of the names that all have', async (name) => {
    const exported: Record<string, Provider> = await import(`../src/vendors/${name}/index.ts`);
    const [{ live, batch, failures, credential }] = Object.values(exported) as [Provider];
    const wanted = [
      'index.ts',
      'models.ts',
      ...(live === undefined ? [] : ['live.ts']),
      ...(batch?.kind === 'http' ? ['batch.ts'] : []),
      ...(failures.length === 0 ? [] : ['failures.ts']),
      ...(credential === 'required' ? ['simulator/index.ts'] : []),
    ];
    const missing = wanted.filter((file) => !project.exists(`src/vendors/${name}/${file}`));
    expectNone(missing, `Add these to src/vendors/${name}, as in src/vendors/loopback.`);
  });

  test.each(names)('%s exports one Provider named like its folder', async (name) => {
    const exported: Record<string, unknown> = await import(`../src/vendors/${name}/index.ts`);
    const variable = name.replace(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
    expect(Object.keys(exported), `src/vendors/${name}/index.ts exports the provider and nothing else.`).toEqual([
      variable,
    ]);
    expect((exported[variable] as Provider).name).toBe(name);
  });
});

describe('files', () => {
  test('serve the product or its tests, without leftovers', () => {
    const scripts = Object.values(JSON.parse(project.read('package.json')).scripts).join(' ');
    const commands = scripts + project.read('.ci/run') + project.read('scripts/ci/steps.sh');
    const isStarted = ({ path }: project.SourceFile) => path === 'bin/voxgate.js' || commands.includes(path);
    const starts = [
      'src/main.ts',
      'src/index.ts',
      ...CLIENT_STARTS,
      ...CONSOLE_STARTS,
      ...everything.filter(isStarted).map(({ path }) => path),
    ];
    const setting = project.read('vitest.config.ts');
    const testStarts = tests
      .map(({ path }) => path)
      .filter((path) => path.endsWith('.test.ts') || setting.includes(`${path}'`));

    const inUse = reachable(starts);
    const inTests = reachable([...testStarts, ...starts]);
    const unused = [
      ...[...product, ...tools].filter(({ path }) => !inUse.has(path)),
      ...tests.filter(({ path }) => !inTests.has(path)),
    ];
    expectNone(
      unused.map(({ path }) => path),
      'Nothing imports or starts these files: use them, or delete them.',
    );
  });

  test('use kebab-case names', () => {
    const odd = everything
      .map(({ path }) => path)
      .filter((path) => !/^(?:[a-z0-9-]+\/)+[a-z0-9-]+(?:\.(?:test|suite|config|d))?\.[jt]sx?$/.test(path));
    expectNone(odd, 'Name these files and their folders in kebab-case.');
  });

  test('consist of TypeScript in src/ and machines/, apart from documents, drawings and the console', () => {
    const taken = [...project.filesBelow('src'), ...project.filesBelow('machines')];
    const isBundled = (path: string) => /^src\/console\/.*\.(?:tsx|css|html|svg|json|wav)$/.test(path);
    const others = taken.filter(
      (path) => !/\.(?:ts|md)$/.test(path) && !path.startsWith('machines/drawings/') && !isBundled(path),
    );
    expectNone(others, 'The build copies nothing: put these into TypeScript files.');
  });
});

describe.each(['', 'test/sdk/'])('%spackage.json', (folder) => {
  const manifest = JSON.parse(project.read(`${folder}package.json`));
  const locked: Record<string, { hasInstallScript?: true }> = JSON.parse(
    project.read(`${folder}package-lock.json`),
  ).packages;

  test('pins every dependency to one version', () => {
    const loose = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
      .filter(([, wanted]) => !/^(?:npm:@?[^@]+@)?\d+\.\d+\.\d+$/.test(String(wanted)))
      .map(([name, wanted]) => `${name} is "${wanted}": name one exact version.`);
    expectNone(loose);
  });

  // Without this npm 12 leaves better-sqlite3 uncompiled. Names suffice: the lock file holds the versions and checksums.
  test('allows the install scripts that are needed, and no others', () => {
    const needed = Object.entries(locked)
      .filter(([path, entry]) => entry.hasInstallScript && !path.endsWith('/fsevents'))
      .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
    const allowed = Object.keys(manifest.allowScripts);
    expectNone([
      ...needed
        .filter((name) => !allowed.includes(name))
        .map((name) => `${name}: run \`npm install-scripts approve ${name}\`.`),
      ...allowed
        .filter((name) => !needed.includes(name))
        .map((name) => `${name} has no script: run \`npm install-scripts prune\`.`),
    ]);
  });

  test('names only files that exist in its scripts', () => {
    const named = Object.values<string>(manifest.scripts ?? {}).flatMap(
      (script) => script.match(/\b(?:bin|scripts|test|src)\/[\w./-]+/g) ?? [],
    );
    expectNone(
      named.filter((path) => !project.exists(path)),
      'These are named in a script and do not exist.',
    );
  });
});
