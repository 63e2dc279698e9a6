// bin/build.js: when a build is made, what becomes of the old one, and what happens when several processes start at once.
// esbuild is stood in for, except where what it makes is looked at.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BuildFailed, ensureBuilt } from '../bin/build.js';
import { bundleProgram } from '../bin/bundle.js';
import { bundleConsole } from '../bin/bundle-console.js';
import { licensesOf } from '../bin/licenses.js';

let root: string;
let compiled: number;

const write = (path: string, text: string) => writeFileSync(join(root, path), text);
const compile = async (outDir: string) => {
  compiled += 1;
  writeFileSync(join(outDir, `build-${compiled}.js`), '');
};
const build = () => ensureBuilt(root, { compile });
const inDist = () => readdirSync(join(root, 'dist')).filter((name) => name.endsWith('.js'));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'voxgate-build-'));
  compiled = 0;
  for (const folder of ['bin', 'docs/guides', 'machines', 'src/audio'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of ['package.json', 'tsconfig.json']) write(file, '{}');
  write('src/main.ts', '');
  write('src/audio/pcm.ts', '');
  write('docs/guides/live.md', '# Live');
});

afterEach(() => rmSync(root, { recursive: true }));

test('leaves an installed package without source unchanged', async () => {
  rmSync(join(root, 'src'), { recursive: true });
  expect(await build()).toBe('installed');
  expect(compiled).toBe(0);
});

test('compiles nothing while nothing changes', async () => {
  let told = 0;
  const onCompile = () => told++;
  const again = () => ensureBuilt(root, { compile, onCompile });
  expect([await again(), await again(), await again()]).toEqual(['built', 'fresh', 'fresh']);
  expect([compiled, told]).toEqual([1, 1]);
});

test.each([
  ['a changed file', () => write('src/audio/pcm.ts', 'changed')],
  ['a new file', () => write('machines/node.ts', '')],
  ['a deleted file', () => rmSync(join(root, 'src/audio/pcm.ts'))],
  ['a renamed file', () => renameSync(join(root, 'src/audio/pcm.ts'), join(root, 'src/audio/frames.ts'))],
  ['a changed page', () => write('docs/guides/live.md', '# Live from a program')],
  ['a changed setting', () => write('tsconfig.json', '{"compilerOptions":{}}')],
  ['a changed version of a package', () => write('package-lock.json', '{}')],
  ['a changed bundler', () => write('bin/bundle.js', '')],
  ['a deleted build', () => rmSync(join(root, 'dist'), { recursive: true })],
])('%s leads to a build that replaces the old one whole', async (_what, change) => {
  await build();
  change();
  expect(await build()).toBe('built');
  expect(inDist()).toEqual(['build-2.js']);
});

test('pages are taken over as they are, and nothing else of their folder', async () => {
  write('docs/architecture.svg', '<svg/>');
  await build();
  expect(readdirSync(join(root, 'dist/docs'), { recursive: true }).sort()).toEqual(['guides', 'guides/live.md']);
  expect(readFileSync(join(root, 'dist/docs/guides/live.md'), 'utf8')).toBe('# Live');
});

test('bundles what is started by its path, with files that know where they lie', async () => {
  const dist = join(root, 'dist');
  mkdirSync(join(root, 'src/store'), { recursive: true });
  write('src/main.ts', `import { worker } from './store/store.ts'; console.log(worker);`);
  write('src/store/store.ts', `export const worker: string = new URL('worker.js', import.meta.url).href;`);
  write('src/store/worker.ts', `import { worker } from './store.ts'; console.log('at', worker);`);
  write('package.json', '{"type":"module"}');
  await bundleProgram(root, dist);
  const said = (name: string) => execFileSync(process.execPath, [join(dist, 'src', name)], { encoding: 'utf8' });
  const place = pathToFileURL(join(dist, 'src/store/worker.js')).href;
  expect([said('main.js'), said('store/worker.js')]).toEqual([`${place}\n`, `at ${place}\n`]);
});

test('bundles the console into files that are named after their contents, with no script or style inside its pages', async () => {
  const page = (head: string) => `<html>\n  <head>\n${head}\n  </head>\n  <body></body>\n</html>\n`;
  mkdirSync(join(root, 'src/console'));
  mkdirSync(join(root, 'clients/typescript/src/microphone'), { recursive: true });
  write('clients/typescript/src/microphone/microphone-worklet.ts', `registerProcessor('microphone', class {});`);
  write('src/console/style.css', '.page { color: red; }');
  write('src/console/icon.svg', '<svg/>');
  write('src/console/theme.ts', 'export const theme: string = "dark"; document.title = theme;');
  write(
    'src/console/main.ts',
    `import icon from './icon.svg';
     import text from './icon.svg?raw';
     import worklet from '@voxgate/client/microphone-worklet.js?worker&url';
     import { theme } from './theme.ts';
     document.body.append(icon, text, worklet, theme);`,
  );
  const links = '<link rel="icon" href="./icon.svg"><link rel="stylesheet" href="./style.css">';
  const scripts = ['theme', 'main'].map((name) => `<script type="module" src="./${name}.ts"></script>`).join('');
  write('src/console/index.html', page(links + scripts));
  write('src/console/docs.html', page(links));
  const made = join(root, 'dist/console');
  await bundleConsole(root, made);
  const read = (name: string) => readFileSync(join(made, name), 'utf8');
  const names = readdirSync(join(made, 'assets'));
  const named = (what: RegExp) => `/console/assets/${names.find((name) => what.test(name))}`;
  const kinds = names.map((name) => name.replace(/-[A-Z0-9]{8}\./, '.')).sort();
  expect(kinds).toEqual(['chunk.js', 'icon.svg', 'main.js', 'microphone-worklet.js', 'style.css', 'theme.js']);
  const own = `<link rel="icon" href="${named(/icon/)}"><link rel="stylesheet" href="${named(/style/)}">`;
  const loaded = [/theme/, /main/].map((name) => `<script type="module" crossorigin src="${named(name)}"></script>`);
  const shared = `    <link rel="modulepreload" crossorigin href="${named(/chunk/)}">`;
  expect(read('index.html')).toBe(page(`${own}${loaded.join('')}\n${shared}`));
  expect(read('docs.html')).toBe(page(own));
  const main = read(`assets/${names.find((name) => name.startsWith('main'))}`);
  for (const text of [named(/icon/), '<svg/>', named(/worklet/)]) expect(main).toContain(text);
});

test('gives lazily imported packages the same exports as Node, in any module format', async () => {
  const dist = join(root, 'dist');
  const packages: Record<string, [type: string, text: string]> = {
    named: ['commonjs', `exports.Server = class {}; exports.status = { OK: 0 };`],
    compiled: [
      'commonjs',
      `Object.defineProperty(exports, '__esModule', { value: true });
       const part = require('./part.js');
       Object.defineProperty(exports, 'Client', { enumerable: true, get: function () { return part.Client; } });`,
    ],
    callable: ['commonjs', `module.exports = function open() {}; module.exports.delete = 1;`],
    modern: ['module', `export const Decoder = 1; export default 2;`],
  };
  for (const [name, [type, text]] of Object.entries(packages)) {
    mkdirSync(join(root, 'node_modules', name), { recursive: true });
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, type, main: 'index.js' }));
    write(`node_modules/${name}/index.js`, text);
  }
  write('node_modules/compiled/part.js', `exports.Client = class {};`);
  mkdirSync(join(root, 'src/store'), { recursive: true });
  write('package.json', '{"type":"module"}');
  const lines = Object.keys(packages).map((name) => `show('${name}', await import('${name}'));`);
  const program = `const show = (name, { __esModule, 'module.exports': whole, ...exported }) =>
    console.log(name, Object.entries(exported).sort().map(([key, value]) => key + ':' + typeof value).join());
    ${lines.join('\n')}`;
  for (const name of ['plain.js', 'src/main.ts', 'src/store/worker.ts']) write(name, program);
  await bundleProgram(root, dist);
  const said = (name: string) => execFileSync(process.execPath, [join(root, name)], { encoding: 'utf8' });
  expect(said('plain.js')).toBe(
    [
      'named Server:function,default:object,status:object',
      'compiled Client:function,default:object',
      'callable default:function,delete:number',
      'modern Decoder:number,default:number',
      '',
    ].join('\n'),
  );
  const plain = said('plain.js');
  expect([said('dist/src/main.js'), said('dist/src/store/worker.js')]).toEqual([plain, plain]);
});

test('collects the licence of each bundled package once, with its text', () => {
  for (const [name, file] of [
    ['@scope/one', 'LICENSE'],
    ['two', 'license.md'],
  ] as const) {
    mkdirSync(join(root, 'node_modules', name), { recursive: true });
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', license: 'MIT' }));
    write(`node_modules/${name}/${file}`, `The text of ${name}.\n`);
  }
  const inputs = ['src/main.ts', 'node_modules/two/a.js', 'node_modules/two/b.js'];
  expect(licensesOf(root, [...inputs, `lazy CommonJS:${root}/node_modules/@scope/one/index.js`])).toBe(
    '@scope/one 1.0.0 (MIT)\n\nThe text of @scope/one.\n\n\ntwo 1.0.0 (MIT)\n\nThe text of two.\n\n',
  );
});

test('keeps the old build after a failure, and the next start tries again', async () => {
  await build();
  write('src/main.ts', 'broken');
  const fail = async () => Promise.reject(new BuildFailed('src/main.ts is broken'));
  await expect(ensureBuilt(root, { compile: fail })).rejects.toThrow('src/main.ts is broken');
  expect(inDist()).toEqual(['build-1.js']);
  expect(await build()).toBe('built');
});

test('compiles once for simultaneous starts, and the others wait', async () => {
  const outcomes = await Promise.all([build(), build(), build()]);
  expect(outcomes.sort()).toEqual(['built', 'fresh', 'fresh']);
  expect(compiled).toBe(1);
});

test('removes the lock of a dead process', async () => {
  mkdirSync(join(root, '.cache'));
  // Above every system's highest process id.
  write('.cache/build.lock', '2147483646');
  expect(await build()).toBe('built');
  expect(readdirSync(join(root, '.cache'))).toEqual([]);
});

test('reports a slow build with its process and the solution', async () => {
  mkdirSync(join(root, '.cache'));
  write('.cache/build.lock', String(process.pid));
  const lockPath = join(root, '.cache/build.lock');
  await expect(ensureBuilt(root, { compile, lockWaitMs: 100 })).rejects.toThrow(
    `Process ${process.pid} has been building for over 0.1 s. Wait for it or end it, or delete ${lockPath}, then start again.`,
  );
  expect(readFileSync(lockPath, 'utf8')).toBe(String(process.pid));
});

test('shows a source that cannot be bundled with its file and line', async () => {
  for (const folder of ['src/console', 'clients/typescript/src/microphone'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const page of ['index', 'docs']) write(`src/console/${page}.html`, '');
  for (const name of ['index', 'node', 'microphone/microphone-worklet']) write(`clients/typescript/src/${name}.ts`, '');
  write('src/main.ts', "import './clock.ts';");
  await expect(ensureBuilt(root)).rejects.toThrow(/Could not resolve "\.\/clock\.ts"\s+\S*src\/main\.ts:1:7/);
});
