// bin/build.js: when a build is made, what becomes of the old one, and what happens when several processes start at once.
// The compiler is stood in for, except in the one test that shows a mistake in the source to the reader.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BuildFailed, ensureBuilt } from '../bin/build.js';
import { bundle } from '../bin/bundle.js';

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
  for (const file of ['package.json', 'tsconfig.json', 'tsconfig.build.json']) write(file, '{}');
  write('src/main.ts', '');
  write('src/audio/pcm.ts', '');
  write('docs/guides/live.md', '# Live');
});

afterEach(() => rmSync(root, { recursive: true }));

test('an installed package, which has no source, is left alone', async () => {
  rmSync(join(root, 'src'), { recursive: true });
  expect(await build()).toBe('installed');
  expect(compiled).toBe(0);
});

test('nothing is compiled again while nothing changes', async () => {
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
  ['a renamed file', () => renameSync(join(root, 'src/audio/pcm.ts'), join(root, 'src/audio/pacer.ts'))],
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

test('what is started is put together out of its files, which still know where they lie', async () => {
  const dist = join(root, 'dist');
  mkdirSync(join(dist, 'src/store'), { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(dist, 'src', name), text);
  write('main.js', `import { worker } from './store/store.js'; console.log(worker);`);
  write('store/store.js', `export const worker = new URL('worker.js', import.meta.url).href;`);
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  write('store/worker.js', `import { worker } from './store.js'; console.log('at', worker);`);
  await bundle(dist);
  rmSync(join(dist, 'src/store/store.js'));
  const said = (name: string) => execFileSync(process.execPath, [join(dist, 'src', name)], { encoding: 'utf8' });
  const place = pathToFileURL(join(dist, 'src/store/worker.js')).href;
  expect([said('main.js'), said('store/worker.js')]).toEqual([`${place}\n`, `at ${place}\n`]);
});

test('gives lazily imported packages the same exports as Node does, whatever they are written in', async () => {
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
  mkdirSync(join(dist, 'src/store'), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  const lines = Object.keys(packages).map((name) => `show('${name}', await import('${name}'));`);
  const program = `const show = (name, { __esModule, 'module.exports': whole, ...exported }) =>
    console.log(name, Object.entries(exported).sort().map(([key, value]) => key + ':' + typeof value).join());
    ${lines.join('\n')}`;
  for (const name of ['src/plain.js', 'src/main.js', 'src/store/worker.js']) writeFileSync(join(dist, name), program);
  await bundle(dist);
  const said = (name: string) => execFileSync(process.execPath, [join(dist, 'src', name)], { encoding: 'utf8' });
  expect(said('plain.js')).toBe(
    [
      'named Server:function,default:object,status:object',
      'compiled Client:function,default:object',
      'callable default:function,delete:number',
      'modern Decoder:number,default:number',
      '',
    ].join('\n'),
  );
  expect([said('main.js'), said('store/worker.js')]).toEqual([said('plain.js'), said('plain.js')]);
});

test('a failed build leaves the old one in place, and the next start tries again', async () => {
  await build();
  write('src/main.ts', 'broken');
  const fail = async () => Promise.reject(new BuildFailed('src/main.ts is broken'));
  await expect(ensureBuilt(root, { compile: fail })).rejects.toThrow('src/main.ts is broken');
  expect(inDist()).toEqual(['build-1.js']);
  expect(await build()).toBe('built');
});

test('of several starts at once one compiles, and the others wait for it', async () => {
  const outcomes = await Promise.all([build(), build(), build()]);
  expect(outcomes.sort()).toEqual(['built', 'fresh', 'fresh']);
  expect(compiled).toBe(1);
});

test('the lock of a process that is gone is removed', async () => {
  mkdirSync(join(root, '.cache'));
  // Above every system's highest process id.
  write('.cache/build.lock', '2147483646');
  expect(await build()).toBe('built');
  expect(readdirSync(join(root, '.cache'))).toEqual([]);
});

test('a build that takes too long is named with its process and the way out', async () => {
  mkdirSync(join(root, '.cache'));
  write('.cache/build.lock', String(process.pid));
  const lockPath = join(root, '.cache/build.lock');
  await expect(ensureBuilt(root, { compile, lockWaitMs: 100 })).rejects.toThrow(
    `Process ${process.pid} has been building for over 0.1 s. Wait for it or end it, or delete ${lockPath}, then start again.`,
  );
  expect(readFileSync(lockPath, 'utf8')).toBe(String(process.pid));
});

test('a source that does not compile is shown as the compiler shows it', async () => {
  symlinkSync(join(import.meta.dirname, '../node_modules'), join(root, 'node_modules'));
  write('tsconfig.build.json', '{"compilerOptions":{"noEmitOnError":true,"rootDir":".","types":[]},"include":["src"]}');
  write('src/main.ts', 'const seconds: number = "one";');
  await expect(ensureBuilt(root)).rejects.toThrow(/src\/main\.ts.*TS2322/);
});

test('without the compiler a start says what to run', async () => {
  await expect(ensureBuilt(root)).rejects.toThrow('typescript is not installed. Run `npm ci`.');
});
