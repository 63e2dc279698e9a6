// Builds programs that tests start and Debian has too old or not at all: pinned versions, from the Go module proxy, each once for this
// user. The product needs none of them.
//   node scripts/install/go-programs.js nats-server versitygw manifests
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A package of a pinned version; or a module of this project, whose go.mod and go.sum pin what it is made of.
 * @typedef {{ package: string; version: string } | { folder: string }} Program
 */

/** @type {Readonly<Record<string, Program>>} */
const PROGRAMS = {
  'nats-server': { package: 'github.com/nats-io/nats-server/v2', version: 'v2.15.3' },
  // An S3-compatible server.
  versitygw: { package: 'github.com/versity/versitygw/cmd/versitygw', version: 'v1.8.0' },
  // Reads the chart and the compose file as Helm, Kubernetes and Compose do. Helm itself takes twice as long to build.
  manifests: { folder: 'scripts/ci/manifests' },
};

const root = fileURLToPath(new URL('../..', import.meta.url));

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
  return join(cache, `${name}-${versionOf(program)}`);
}

/** @param {Program} program */
function versionOf(program) {
  if ('version' in program) return program.version;
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(root, program.folder, file)));
  return hash.digest('hex').slice(0, 12);
}

/** @param {string} name */
function build(name) {
  if (goProgram(name).isHere) return;
  const folder = folderOf(name);
  const program = /** @type {Program} */ (PROGRAMS[name]);
  mkdirSync(folder, { recursive: true });
  console.error(`Building ${name} ${versionOf(program)} …`);
  const isOwn = 'folder' in program;
  const args = ['install', '-trimpath', '-ldflags=-s -w', isOwn ? '.' : `${program.package}@${program.version}`];
  const { status, error } = spawnSync('go', args, {
    stdio: 'inherit',
    env: { ...process.env, GOBIN: folder, GOFLAGS: '-buildvcs=false' },
    ...(isOwn && { cwd: join(root, program.folder) }),
  });
  if (error !== undefined) console.error(`Go is needed to build ${name}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) process.argv.slice(2).forEach(build);
