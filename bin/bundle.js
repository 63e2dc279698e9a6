// Puts what is started by its path into few files: the program, and its threads. To find and read their hundreds of files, and those of
// the packages, would take longer than all the rest of a start. The compiled files stay for programs that embed the gateway.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { types } from 'node:util';

const FOLDER = 'program';
const STARTED = /^src\/(?:main|.+\/worker)\.js$/;
/** What has a binary, or reads files that lie beside it. */
const APART = ['better-sqlite3', 'bufferutil', 'soundswallower', 'uWebSockets.js'];
/** For packages in CommonJS, which ask for modules of Node. */
const REQUIRE = `import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);`;

/**
 * @param {string} dist With the compiled files, in which those that are started are replaced.
 */
export async function bundle(dist) {
  const names = readdirSync(dist, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll(sep, '/'));
  const started = names.filter((name) => STARTED.test(name));
  // A thread shares no code with what starts it, so it has one file of its own: each more costs its start a millisecond or two.
  const isThread = (/** @type {string} */ name) => name.endsWith('/worker.js');
  await bundleTogether(
    dist,
    started.filter((name) => !isThread(name)),
    true,
  );
  for (const thread of started.filter(isThread)) await bundleTogether(dist, [thread], false);
  for (const name of started) {
    const path = relative(dirname(name), join(FOLDER, `${outputOf(name)}.js`)).replaceAll(sep, '/');
    writeFileSync(join(dist, name), `import '${path}';\n`);
  }
}

/**
 * @param {string} dist
 * @param {string[]} names
 * @param {boolean} splitting Whether what is loaded when it is needed, and what they have in common, lies in files beside theirs.
 */
async function bundleTogether(dist, names, splitting) {
  const { build } = await import('esbuild');
  await build({
    entryPoints: names.map((name) => ({ in: join(dist, name), out: outputOf(name) })),
    outdir: join(dist, FOLDER),
    bundle: true,
    splitting,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    keepNames: true,
    external: APART,
    banner: { js: REQUIRE },
    plugins: [ownPlaces(dist), lazyCommonJs],
    logLevel: 'error',
  });
}

/**
 * All that is made lies in one folder, so that a name says where it comes from.
 *
 * @param {string} name
 */
const outputOf = (name) => name.slice('src/'.length, -'.js'.length).replaceAll('/', '-');

/**
 * Files find others by the place where they were compiled to.
 *
 * @param {string} dist
 * @returns {import('esbuild').Plugin}
 */
function ownPlaces(dist) {
  return {
    name: 'own places',
    setup(build) {
      build.onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (!path.startsWith(dist + sep)) return undefined;
        const place = relative(join(dist, FOLDER), path).replaceAll(sep, '/');
        const here = `new URL(${JSON.stringify(place)}, import.meta.url).href`;
        return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', here), loader: 'js' };
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
