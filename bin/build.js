// Keeps dist/ equal to the source: compiles machines/, src/ and the client for TypeScript, bundles the console,
// and takes over the pages of docs/, when anything there has changed, and only then. The command, the test suite and `npm run build` share it. Safe to run many
// times at once; what to compile is the matter of each PROJECTS.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.js';

/** The client: a package of its own. A gateway serves it as well, so a copy is in dist/client. */
const CLIENT = 'clients/typescript';
const CLIENT_COPY = 'client';
const SOURCE_FOLDERS = ['machines', 'src', `${CLIENT}/src`];
/** What the compiler is told, and where below dist/ it writes to. */
const PROJECTS = [
  { settings: 'tsconfig.build.json', folder: '' },
  { settings: `${CLIENT}/tsconfig.json`, folder: CLIENT_COPY },
];
/** The console, for browsers: bundled, and not compiled with the rest. */
const CONSOLE = { settings: 'src/console/vite.config.ts', folder: 'console' };
/** What the sources are made of. */
const SOURCE = /\.(?:tsx?|css|html|svg|wav|json)$/;
/** Served as they are. */
const PAGES = 'docs';
/** The packages are part of the bundle, so their versions count, and so does how it is made. */
const SETTINGS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  ...PROJECTS.map(({ settings }) => settings),
  'bin/build.js',
  'bin/bundle.js',
];
/** The file with the id of the program; src/documents/version.ts reads it. */
const BUILD_ID = 'build-id';
const BUILD_ID_CHARACTERS = 8;
/** A build takes about one second; whoever holds the lock so much longer is stuck. */
const LOCK_WAIT_MS = 60_000;
const LOCK_POLL_MS = 50;

/** The source does not compile, or the compiler cannot be run. The message is meant for the terminal. */
export class BuildFailed extends Error {}

/**
 * @typedef {object} BuildOptions
 * @property {(outDir: string) => Promise<void>} [compile] Writes the compiled program to `outDir`; `tsc` unless a test says otherwise.
 * @property {() => void} [onCompile] Called before it is compiled, which takes some seconds.
 * @property {number} [lockWaitMs] How long to wait for a build that another process is making.
 */

/**
 * Brings `<root>/dist` up to date. Does nothing where there is no source (an installed package).
 *
 * @param {string} root The project's folder.
 * @param {BuildOptions} [options]
 * @returns {Promise<'installed' | 'fresh' | 'built'>} Whether there is no source, nothing had changed, or a build was made.
 */
export async function ensureBuilt(root, options = {}) {
  if (!existsSync(join(root, 'src/main.ts'))) return 'installed';
  if (isFresh(root, fingerprint(root))) return 'fresh';
  const compile = options.compile ?? ((outDir) => runCompiler(root, outDir));
  const release = await lock(root, options.lockWaitMs ?? LOCK_WAIT_MS);
  try {
    const current = fingerprint(root);
    if (isFresh(root, current)) return 'fresh';
    options.onCompile?.();
    await build(root, current, compile);
    return 'built';
  } finally {
    release();
  }
}

/**
 * Compiles aside and swaps whole folders, so that dist/ never holds half a build or files of deleted sources.
 *
 * @param {string} root
 * @param {string} current
 * @param {(outDir: string) => Promise<void>} compile
 */
async function build(root, current, compile) {
  const aside = join(root, '.cache/build');
  const next = join(aside, 'next');
  const previous = join(aside, 'previous');
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(next, { recursive: true });
  await compile(next);
  copyPages(root, next);
  writeFileSync(join(next, BUILD_ID), buildId(next));
  writeFileSync(join(next, '.fingerprint'), current);
  if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), previous);
  renameSync(next, join(root, 'dist'));
  replaceClient(root, aside);
  rmSync(aside, { recursive: true, force: true });
}

/**
 * The client's own dist/, as its package has it: last, so that a build that was broken off is made again.
 *
 * @param {string} root
 * @param {string} aside
 */
function replaceClient(root, aside) {
  const compiled = join(root, 'dist', CLIENT_COPY);
  if (!existsSync(compiled)) return;
  const next = join(aside, 'client');
  cpSync(compiled, next, { recursive: true });
  rmSync(join(root, CLIENT, 'dist'), { recursive: true, force: true });
  renameSync(next, join(root, CLIENT, 'dist'));
}

/**
 * @param {string} root
 * @param {string} outDir
 */
function copyPages(root, outDir) {
  for (const name of filesIn(root, PAGES, /\.md$/)) {
    cpSync(join(root, PAGES, name), join(outDir, PAGES, name));
  }
}

/**
 * The same for the same program, on every machine: nodes show it, so that two builds of one version can be told apart.
 *
 * @param {string} dist
 */
function buildId(dist) {
  const hash = createHash('sha256');
  for (const name of filesIn(dist, '.', /\.js$/)) hash.update(`${name}\n`).update(readFileSync(join(dist, name)));
  return hash.digest('hex').slice(0, BUILD_ID_CHARACTERS);
}

/**
 * @param {string} root
 * @param {string} folder
 * @param {RegExp} ending
 * @returns {string[]} In one order on every machine; empty where the folder is missing.
 */
function filesIn(root, folder, ending) {
  if (!existsSync(join(root, folder))) return [];
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => ending.test(name)).sort();
}

/**
 * Names, sizes and times of everything that a build depends on, as one short text. Costs a few milliseconds.
 *
 * @param {string} root
 */
function fingerprint(root) {
  const hash = createHash('sha256');
  /** @param {string} path */
  const add = (path) => {
    const state = statSync(join(root, path), { throwIfNoEntry: false });
    hash.update(`${path} ${state?.size} ${state?.mtimeMs}\n`);
  };
  for (const file of SETTINGS) add(file);
  for (const folder of SOURCE_FOLDERS) {
    for (const name of filesIn(root, folder, SOURCE)) add(join(folder, name));
  }
  for (const name of filesIn(root, PAGES, /\.md$/)) add(join(PAGES, name));
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @param {string} current
 */
function isFresh(root, current) {
  const stamp = join(root, 'dist/.fingerprint');
  const isClientThere = !existsSync(join(root, CLIENT)) || existsSync(join(root, CLIENT, 'dist'));
  return isClientThere && existsSync(stamp) && readFileSync(stamp, 'utf8') === current;
}

/**
 * Takes the lock that lets one process build at a time. A lock whose owner is gone is removed.
 *
 * @param {string} root
 * @param {number} waitMs
 * @returns {Promise<() => void>} Gives the lock back.
 */
async function lock(root, waitMs) {
  const path = join(root, '.cache/build.lock');
  makeCache(root);
  const giveUpAt = performance.now() + waitMs;
  let takenOver = false;
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      // Another process may have found the same dead owner and removed what was just written: see who stays.
      if (takenOver) await delay(LOCK_POLL_MS);
      if (!takenOver || ownerOf(path) === process.pid) return () => rmSync(path, { force: true });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw mayNotBuild(error, root);
    }
    const owner = ownerOf(path);
    if (owner !== undefined && !isAlive(owner)) {
      takenOver = true;
      rmSync(path, { force: true });
    } else if (performance.now() < giveUpAt) {
      await delay(LOCK_POLL_MS);
    } else {
      throw new BuildFailed(
        `Process ${owner ?? '(unknown)'} has been building for over ${waitMs / 1000} s. Wait for it or end it, or delete ${path}, then start again.`,
      );
    }
  }
}

/** @param {string} root */
function makeCache(root) {
  try {
    mkdirSync(join(root, '.cache'), { recursive: true });
  } catch (error) {
    throw mayNotBuild(error, root);
  }
}

/**
 * A service often runs as a user who may not write where its program is; what to do is said to the operator then.
 *
 * @param {unknown} error
 * @param {string} root
 */
function mayNotBuild(error, root) {
  if (!['EACCES', 'EPERM', 'EROFS'].includes(`${codeOf(error)}`)) return error;
  return new BuildFailed(
    `The source has changed since dist/ was built, and this user may not write to ${root}. Run \`npm run build\` there as its owner.`,
  );
}

/**
 * @param {string} path
 * @returns {number | undefined} The process that holds the lock; undefined while it is being written or was just given back.
 */
function ownerOf(path) {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10) || undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/**
 * Runs the project's own `tsc`, `vite` and `esbuild`; their output is shown only when they fail.
 *
 * @param {string} root
 * @param {string} outDir
 * @returns {Promise<void>}
 */
async function runCompiler(root, outDir) {
  const tsc = toolPath(root, 'typescript', '../bin/tsc');
  const vite = toolPath(root, 'vite', '../bin/vite.js');
  const outputs = await Promise.all([
    ...PROJECTS.map(({ settings, folder }) => outputOf(root, [tsc, '-p', settings, '--outDir', join(outDir, folder)])),
    outputOf(root, [
      vite,
      'build',
      '--config',
      CONSOLE.settings,
      '--outDir',
      join(outDir, CONSOLE.folder),
      '--emptyOutDir',
    ]),
  ]);
  const output = outputs.join('');
  if (output !== '') throw new BuildFailed(`${output}The source does not compile; dist/ is left as it was.`);
  await bundle(outDir).catch((error) => {
    throw new BuildFailed(`${error.message}\nThe program could not be put together; dist/ is left as it was.`);
  });
}

/**
 * What a compiler says of the source: nothing where all is well.
 *
 * @param {string} root
 * @param {readonly string[]} command
 * @returns {Promise<string>}
 */
function outputOf(root, command) {
  return new Promise((done, fail) => {
    const compiler = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    compiler.stdout.on('data', (chunk) => (output += chunk));
    compiler.stderr.on('data', (chunk) => (output += chunk));
    compiler.on('error', (error) =>
      fail(new BuildFailed(`The TypeScript compiler could not be started: ${error.message}`)),
    );
    compiler.on('close', (code) => done(code === 0 ? '' : output || `The TypeScript compiler ended with ${code}. `));
  });
}

/**
 * @param {string} root
 * @param {string} name
 * @param {string} program Seen from the package's `package.json`.
 */
function toolPath(root, name, program) {
  try {
    return join(createRequire(join(root, 'package.json')).resolve(`${name}/package.json`), program);
  } catch {
    throw new BuildFailed(
      `The source has changed since dist/ was built, and its ${name} is not installed. Run \`npm ci\`.`,
    );
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const root = resolve(fileURLToPath(import.meta.url), '../..');
  try {
    const outcome = await ensureBuilt(root);
    console.log(outcome === 'built' ? 'dist/ was built.' : 'dist/ is up to date.');
  } catch (error) {
    if (!(error instanceof BuildFailed)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
