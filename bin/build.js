// Keeps dist/ equal to the source: bundles the program, the client for TypeScript and the console, and copies the pages of docs/, when
// anything there has changed, and only then. The command, the test suite and `npm run build` share it. Safe to run many times at once.
// Types are not checked here (`npm run check`).
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
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleClient, bundleProgram } from './bundle.js';
import { bundleConsole } from './bundle-console.js';
import { licensesOf } from './licenses.js';
import { buildSpeechModels } from './speech-models.js';

/** The client is a package of its own, with a dist/ of its own. */
const CLIENT = 'clients/typescript';
const SOURCE_FOLDERS = ['machines', 'src', `${CLIENT}/src`];
/** What the sources are made of. */
const SOURCE = /\.(?:tsx?|css|html|svg|wav|json)$/;
/** Served as they are. */
const PAGES = 'docs';
/** The packages are part of the bundle, so their versions count, and so does how it is made. */
const SETTINGS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'bin/build.js',
  'bin/bundle.js',
  'bin/bundle-console.js',
  'bin/licenses.js',
  'bin/speech-models.js',
];
/** The file with the id of the program; src/runtime/version.ts reads it. */
const BUILD_ID = 'build-id';
const BUILD_ID_CHARACTERS = 8;
/** A build takes about one second; whoever holds the lock so much longer is stuck. */
const LOCK_WAIT_MS = 60_000;
const LOCK_POLL_MS = 50;

/** The source cannot be bundled. The message is meant for the terminal. */
export class BuildFailed extends Error {}

/**
 * @typedef {object} BuildOptions
 * @property {(dist: string, clientDist: string) => Promise<void>} [compile] Writes the bundles; esbuild does unless a test says otherwise.
 * @property {() => void} [onCompile] Called before a build is made.
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
  const compile = options.compile ?? ((dist, clientDist) => bundleAll(root, dist, clientDist));
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
 * Builds aside and swaps whole folders, so that dist/ never holds half a build or files of deleted sources.
 *
 * @param {string} root
 * @param {string} current
 * @param {(dist: string, clientDist: string) => Promise<void>} compile
 */
async function build(root, current, compile) {
  const aside = join(root, '.cache/build');
  const [next, nextClient] = [join(aside, 'next'), join(aside, 'client')];
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(next, { recursive: true });
  await compile(next, nextClient);
  copyPages(root, next);
  writeFileSync(join(next, BUILD_ID), buildId(next));
  writeFileSync(join(next, '.fingerprint'), current);
  // The program last, so that a build that was broken off is made again.
  if (existsSync(nextClient)) replace(join(root, CLIENT, 'dist'), nextClient, join(aside, 'previous-client'));
  replace(join(root, 'dist'), next, join(aside, 'previous'));
  rmSync(aside, { recursive: true, force: true });
}

/** @type {(folder: string, next: string, previous: string) => void} */
function replace(folder, next, previous) {
  if (existsSync(folder)) renameSync(folder, previous);
  renameSync(next, folder);
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

/** @type {(root: string, dist: string, clientDist: string) => Promise<void>} */
async function bundleAll(root, dist, clientDist) {
  const { formatMessages, stop } = await import('esbuild').catch(() => {
    throw new BuildFailed(
      'The source has changed since dist/ was built, and its esbuild is not installed. Run `npm ci`.',
    );
  });
  try {
    const [program, console] = await Promise.all([
      bundleProgram(root, dist),
      bundleConsole(root, join(dist, 'console')),
      bundleClient(join(root, CLIENT, 'src'), clientDist),
    ]);
    await buildSpeechModels(root, dist);
    writeFileSync(join(dist, 'licenses.txt'), licensesOf(root, [...program, ...console]));
  } catch (error) {
    const { errors = [] } = /** @type {{ errors?: import('esbuild').Message[] }} */ (error);
    const texts = await formatMessages(errors, { kind: 'error', color: process.stderr.isTTY });
    throw new BuildFailed(`${texts.join('') || `${error}\n`}The source cannot be bundled; dist/ is left as it was.`);
  } finally {
    // Its process would live as long as this one.
    await stop();
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
