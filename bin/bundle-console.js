// Makes the files of the console that a gateway serves: two pages with their scripts, styles, fonts and pictures. All of them come
// from the gateway itself.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** The console, and the frame that a gateway puts its documents into. */
const PAGES = ['index.html', 'docs.html'];
const ADDRESS = '/console/';
const NAME = 'assets/[name]-[hash]';
/** What a page loads, as its source names it. */
const OWN = /"\.\/([^"]+)"/g;
const SCRIPT = /<script type="module" src="\.\/([^"]+)">/g;

/**
 * @param {string} root The project's folder.
 * @param {string} outDir
 * @returns {Promise<string[]>} The files that are part of it, as esbuild names them.
 */
export async function bundleConsole(root, outDir) {
  const { build } = await import('esbuild');
  const source = join(root, 'src/console');
  const client = join(root, 'clients/typescript/src');
  const pages = PAGES.map((name) => ({ name, text: readFileSync(join(source, name), 'utf8') }));
  const named = new Set(pages.flatMap(({ text }) => [...text.matchAll(OWN)].map(([, name = '']) => name)));
  const { metafile } = await build({
    entryPoints: [...named].filter((name) => !name.endsWith('.svg')).map((name) => join(source, name)),
    absWorkingDir: root,
    outdir: outDir,
    publicPath: ADDRESS,
    entryNames: NAME,
    chunkNames: NAME,
    assetNames: NAME,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    alias: { '@voxgate/client': join(client, 'index.ts') },
    loader: { '.svg': 'file', '.wav': 'file', '.woff2': 'file' },
    plugins: [rawTexts, worklet(join(client, 'microphone/microphone-worklet.ts'))],
    metafile: true,
    logLevel: 'silent',
  });
  const made = new Map(
    Object.entries(metafile.outputs).map(([path, output]) => [sourceOf(path, output), { path, ...output }]),
  );
  /** @param {string} path */
  const addressOf = (path) => ADDRESS + relative(outDir, resolve(root, path)).replaceAll('\\', '/');
  /** @param {string} name */
  const madeOf = (name) => {
    const output = made.get(`src/console/${name}`);
    if (output === undefined) throw new Error(`A page of the console names ${name}, and nothing was made of it.`);
    return output;
  };
  mkdirSync(outDir, { recursive: true });
  for (const { name, text } of pages) writeFileSync(join(outDir, name), pageOf(text, madeOf, addressOf));
  return Object.keys(metafile.inputs);
}

/**
 * What a page names: a script or a style that is an entry point, or a picture that a script imports.
 *
 * @param {string} path
 * @param {import('esbuild').Metafile['outputs'][string]} output
 */
const sourceOf = (path, { entryPoint, inputs }) =>
  entryPoint ?? (path.endsWith('.svg') ? Object.keys(inputs)[0] : path);

/**
 * A page with the addresses of what was made. What its scripts import is loaded beside them, and their styles before it is drawn.
 *
 * @param {string} text
 * @param {(name: string) => import('esbuild').Metafile['outputs'][string] & { path: string }} madeOf
 * @param {(path: string) => string} addressOf
 */
function pageOf(text, madeOf, addressOf) {
  const scripts = [...text.matchAll(SCRIPT)].map(([, name = '']) => madeOf(name));
  const modules = scripts.flatMap(({ imports }) => imports.filter(({ kind }) => kind === 'import-statement'));
  const styles = scripts.flatMap(({ cssBundle }) => cssBundle ?? []);
  const links = [
    ...new Set(modules.map(({ path }) => `<link rel="modulepreload" crossorigin href="${addressOf(path)}">`)),
    ...styles.map((path) => `<link rel="stylesheet" crossorigin href="${addressOf(path)}">`),
  ];
  return text
    .replaceAll(OWN, (_, name) => `"${addressOf(madeOf(name).path)}"`)
    .replaceAll('<script type="module" src=', '<script type="module" crossorigin src=')
    .replace('  </head>', `${links.map((link) => `    ${link}\n`).join('')}  </head>`);
}

/**
 * `import text from './file.svg?raw'`
 *
 * @type {import('esbuild').Plugin}
 */
const rawTexts = {
  name: 'raw texts',
  setup(build) {
    build.onResolve({ filter: /\?raw$/ }, async ({ path, kind, importer, resolveDir }) => {
      const file = await build.resolve(path.replace(/\?raw$/, ''), { kind, importer, resolveDir });
      return file.errors.length > 0 ? { errors: file.errors } : { path: file.path, namespace: 'raw text' };
    });
    build.onLoad({ filter: /./, namespace: 'raw text' }, ({ path }) => ({
      contents: readFileSync(path),
      loader: 'text',
    }));
  },
};

/**
 * The address of the client's worklet: a module that the browser loads on its own.
 *
 * @param {string} file
 * @returns {import('esbuild').Plugin}
 */
const worklet = (file) => ({
  name: 'worklet',
  setup(build) {
    build.onResolve({ filter: /^@voxgate\/client\/microphone-worklet\.js\?/ }, () => ({
      path: file.replace(/\.ts$/, '.js'),
      namespace: 'worklet',
    }));
    build.onLoad({ filter: /./, namespace: 'worklet' }, async () => {
      const { outputFiles } = await build.esbuild.build({
        entryPoints: [file],
        bundle: true,
        minify: true,
        format: 'esm',
        target: 'es2022',
        write: false,
        logLevel: 'silent',
      });
      return { contents: outputFiles[0]?.contents ?? '', loader: 'file' };
    });
  },
});
