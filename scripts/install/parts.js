// Installs packages that only some commands need, each in a folder with a lock file of its own, unless they are there already, and
// runs a command that may use their programs:
//   node scripts/install/parts.js tools test/sdk
//   node scripts/install/parts.js tools -- biome ci .
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '../../..');
const words = process.argv.slice(2);
const end = words.indexOf('--') < 0 ? words.length : words.indexOf('--');
const names = words.slice(0, end);
const [command, ...rest] = words.slice(end + 1);

for (const name of names) install(name);
if (names.includes('tools')) linkTraces();
if (command !== undefined) {
  const programs = names.map((name) => join(root, name, 'node_modules/.bin'));
  run(command, rest, { PATH: [...programs, process.env.PATH].join(delimiter) });
}

/** @param {string} name */
function install(name) {
  const folder = join(root, name);
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const wanted = `${createHash('sha256').update(lock).digest('hex')} ${process.versions.modules}`;
  const stamp = join(folder, 'node_modules/.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  console.error(`Installing the packages of ${name} …`);
  run('npm', ['--prefix', folder, 'ci', '--loglevel=error']);
  writeFileSync(stamp, wanted);
}

/** The program looks for the packages that send traces, which an operator adds, beside its own. */
function linkTraces() {
  const installed = join(root, 'tools/node_modules/@opentelemetry');
  const wanted = join(root, 'node_modules/@opentelemetry');
  for (const name of readdirSync(installed)) {
    if (existsSync(join(wanted, name))) continue;
    rmSync(join(wanted, name), { force: true });
    symlinkSync(relative(wanted, join(installed, name)), join(wanted, name));
  }
}

/** @type {(command: string, rest: string[], env?: NodeJS.ProcessEnv) => void} */
function run(command, rest, env) {
  const { status, error } = spawnSync(command, rest, { stdio: 'inherit', env: { ...process.env, ...env } });
  if (error !== undefined) console.error(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
