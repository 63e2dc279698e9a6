// Puts the program, each of its threads and the client into few files: finding and reading their hundreds of files, and those of the
// packages, would take longer than all the rest of a start.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { types } from 'node:util';

const FOLDER = 'program';
/** The command, the library for embedding, the commands as tests run them, and the threads. */
const STARTED = /^src\/(?:main|index|cli\/index|.+\/worker)\.ts$/;
const CLIENT_STARTED = ['index.ts', 'node.ts', 'microphone/microphone-worklet.ts'];
/** What has a binary, reads files that lie beside it, is installed for traces only, or has a licence by which it stays replaceable. */
const APART = ['@opentelemetry/*', 'better-sqlite3', 'bufferutil', 'codec-parser', 'soundswallower', 'uWebSockets.js'];
/** For packages in CommonJS, which ask for modules of Node. */
const REQUIRE = `import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);`;

/**
 * @param {string} root The project's folder.
 * @param {string} dist Where the program is written to. A file that is started by its path lies there as its source does in the project.
 * @returns {Promise<string[]>} The files that are part of it, as esbuild names them.
 */
export async function bundleProgram(root, dist) {
  const names = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const started = names.map((name) => `src/${name.replaceAll(sep, '/')}`).filter((name) => STARTED.test(name));
  const isThread = (/** @type {string} */ name) => name.endsWith('/worker.ts');
  // A thread shares no code with what starts it, so it has one file of its own: each more costs its start a millisecond or two.
  const together = started.filter((name) => !isThread(name));
  const apart = started.filter(isThread).map((name) => [name]);
  const inputs = await Promise.all([together, ...apart].map((each) => bundleTogether(root, dist, each)));
  for (const name of started) {
    const path = relative(dirname(name), join(FOLDER, outputOf(name))).replaceAll(sep, '/');
    mkdirSync(join(dist, dirname(name)), { recursive: true });
    writeFileSync(join(dist, compiled(name)), `export * from '${path}.js';\n`);
  }
  return inputs.flat();
}

/**
 * The files of its package that programs and browsers load.
 *
 * @param {string} source
 * @param {string} outDir
 */
export async function bundleClient(source, outDir) {
  const { build } = await import('esbuild');
  await build({
    entryPoints: CLIENT_STARTED.map((name) => join(source, name)),
    outdir: outDir,
    outbase: source,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    external: ['node:*', 'ws'],
    logLevel: 'silent',
  });
}

/** An uncaught error prints its line. */
const LINE_CHARACTERS_MAX = 160;

/**
 * @param {string} root
 * @param {string} dist
 * @param {readonly string[]} names
 */
async function bundleTogether(root, dist, names) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: names.map((name) => ({ in: join(root, name), out: outputOf(name) })),
    outdir: join(dist, FOLDER),
    bundle: true,
    // What is loaded when it is needed, and what they have in common, lies in files beside theirs.
    splitting: names.length > 1,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: APART,
    // The source stays in memory as a string: without comments, which may hold characters that double it, it is a third as large.
    minifyWhitespace: true,
    lineLimit: LINE_CHARACTERS_MAX,
    banner: { js: REQUIRE },
    plugins: [ownPlaces(root), lazyCommonJs],
    logLevel: 'silent',
  });
  return Object.keys(metafile.inputs);
}

/** @param {string} name */
const compiled = (name) => name.replace(/\.ts$/, '.js');

/**
 * All that is made lies in one folder, so that a name says where it comes from.
 *
 * @param {string} name
 */
const outputOf = (name) => name.slice('src/'.length, -'.ts'.length).replaceAll('/', '-');

/**
 * Files find others by the place where each would lie if it were compiled alone.
 *
 * @param {string} root
 * @returns {import('esbuild').Plugin}
 */
function ownPlaces(root) {
  return {
    name: 'own places',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const name = relative(root, path);
        const text = readFileSync(path, 'utf8');
        if (name.startsWith('..') || name.startsWith('node_modules') || !text.includes('import.meta.url'))
          return undefined;
        const place = relative(FOLDER, compiled(name)).replaceAll(sep, '/');
        const here = `new URL(${JSON.stringify(place)}, import.meta.url).href`;
        return { contents: text.replaceAll('import.meta.url', here), loader: 'ts', resolveDir: dirname(path) };
      });
    },
  };
}
const LAZY = 'lazy CommonJS';

/**
 * Gives a lazily imported CommonJS package the named exports that it has in Node. On its own, esbuild gives such a package a default export only.
 *
 * @type {import('esbuild').Plugin}
 */
const lazyCommonJs = {
  name: LAZY,
  setup(build) {
    build.onResolve({ filter: /./ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind !== 'dynamic-import' || pluginData === LAZY) return undefined;
      const resolved = await build.resolve(path, { kind, importer, resolveDir, pluginData: LAZY });
      const isPackage = resolved.namespace === 'file' && resolved.path.includes(`${sep}node_modules${sep}`);
      if (!isPackage || resolved.external || exportsOf(resolved.path) === undefined) return resolved;
      return { path: resolved.path, namespace: LAZY };
    });
    build.onLoad({ filter: /./, namespace: LAZY }, ({ path }) => {
      const names = Object.keys(exportsOf(path) ?? {}).filter((name) => /^[\w$]+$/.test(name) && name !== 'default');
      const contents = `const exported = require(${JSON.stringify(path)}); export default exported;
${names.map((name, at) => `const export${at} = exported.${name}; export { export${at} as ${name} };`).join('\n')}`;
      return { contents, loader: 'js', resolveDir: dirname(path) };
    });
  },
};

/**
 * @param {string} path
 * @returns {object | undefined} Nothing for an ES module, whose named exports esbuild keeps.
 */
function exportsOf(path) {
  const exported = createRequire(path)(path);
  return types.isModuleNamespaceObject(exported) ? undefined : exported;
}
