// Builds programs that tests start and Debian has too old or not at all: pinned versions, from the Go module proxy, each once for this
// user. The product needs none of them.
//   node scripts/install/go-programs.js nats-server
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @type {Readonly<Record<string, { package: string; version: string }>>} */
const PROGRAMS = {
  'nats-server': { package: 'github.com/nats-io/nats-server/v2', version: 'v2.15.3' },
};

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'voxgate');

/**
 * Where a program is, once it is built.
 * @param {string} name
 * @returns {{ path: string; isHere: boolean }}
 */
export function goProgram(name) {
  const path = join(folderOf(name), name);
  return { path, isHere: existsSync(path) };
}

/** @param {string} name */
function folderOf(name) {
  const program = PROGRAMS[name];
  if (program === undefined) throw new Error(`${name} is unknown; known are ${Object.keys(PROGRAMS).join(', ')}.`);
  return join(cache, `${name}-${program.version}`);
}

/** @param {string} name */
function build(name) {
  if (goProgram(name).isHere) return;
  const folder = folderOf(name);
  const { package: source, version } = /** @type {{ package: string; version: string }} */ (PROGRAMS[name]);
  mkdirSync(folder, { recursive: true });
  console.error(`Building ${name} ${version} …`);
  const args = ['install', '-trimpath', '-ldflags=-s -w', `${source}@${version}`];
  const { status, error } = spawnSync('go', args, { stdio: 'inherit', env: { ...process.env, GOBIN: folder } });
  if (error !== undefined) console.error(`Go is needed to build ${name}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) process.argv.slice(2).forEach(build);
