// A machine of docs/operations/three-machines.md on this one: an address of its own, and a folder in the place of its root. The
// commands of the page run as they are, but for administrators' programs, and units are started from their files.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentOf } from '../deploy/served-process.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { ROOT } from './pages.ts';

/** Who is root already, and makes no users. */
const PROGRAMS: Readonly<Record<string, string>> = {
  sudo: 'exec "$@"',
  useradd: 'exit 0',
  install: 'exec /usr/bin/install $(echo "$@" | sed "s/-o nats//")',
};
/** Where the page puts something. */
const PLACES = /(?<=^|[\s"=])\/(etc|var\/lib|usr\/local\/bin|opt)\//gm;

export class Machine {
  readonly root = temporaryDirectory();
  readonly address: string;
  readonly #number: number;
  readonly #checkout = temporaryDirectory();
  readonly #running = new Map<string, ChildProcess>();

  constructor(number: number) {
    this.#number = number;
    this.address = addressOf(number);
    for (const folder of ['etc/systemd/system', 'var/lib/nats', 'usr/local/bin', 'bin'])
      mkdirSync(join(this.root, folder), { recursive: true });
    for (const [name, text] of Object.entries(PROGRAMS)) {
      writeFileSync(join(this.root, 'bin', name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(this.root, 'bin', name), 0o755);
    }
    symlinkSync(join(ROOT, 'deploy'), join(this.#checkout, 'deploy'));
  }

  /** Runs commands of the page in a checkout, in one shell. */
  type(commands: string): void {
    const own = this.#here(commands.replace('number=1 ', `number=${this.#number} `));
    const env = { ...process.env, PATH: `${join(this.root, 'bin')}:${process.env.PATH}` };
    execFileSync('bash', ['-e', '-c', own], { cwd: this.#checkout, env, stdio: 'pipe' });
  }

  /** Copies what another machine has in its checkout. */
  copy(name: string, from: Machine): void {
    execFileSync('cp', ['-r', join(from.#checkout, name), this.#checkout]);
  }

  /** Changes a file that the commands have installed, as an administrator may have to. */
  edit(path: string, change: (text: string) => string): void {
    const file = join(this.root, path);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
  }

  /** Starts a unit, as systemd would. `programs`: what is in the place of a path in its command. */
  start(unit: string, programs: Readonly<Record<string, string>>): void {
    const [, template = unit, instance = ''] = /^(.*)@(.*)$/.exec(unit) ?? [];
    const file = instance === '' ? `${unit}.service` : `${template}@.service`;
    const text = readFileSync(join(this.root, 'etc/systemd/system', file), 'utf8').replaceAll('%i', instance);
    const valuesOf = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
    const env = valuesOf('EnvironmentFile').map((path) => environmentOf(readFileSync(this.#here(path), 'utf8')));
    const given = valuesOf('Environment').map((line) => environmentOf(this.#here(line)));
    const [command = ''] = valuesOf('ExecStart');
    const [program = '', ...args] = command.split(' ').map((word) => programs[word] ?? this.#here(word));
    const output = openSync(join(this.root, `${unit}.log`), 'a');
    const child = spawn(program, args, {
      cwd: this.root,
      env: Object.assign({ PATH: process.env.PATH, VOXGATE_HOST: this.address }, ...given, ...env),
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    this.#running.set(unit, child);
  }

  /** The lines of its units' logs that match. */
  logged(pattern: RegExp): string[] {
    const logs = [...this.#running.keys()].map((unit) => readFileSync(join(this.root, `${unit}.log`), 'utf8'));
    return logs.flatMap((log) => log.split('\n').filter((line) => pattern.test(line)));
  }

  /** The power fails. */
  async lose(): Promise<void> {
    const ends = [...this.#running.values()].map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    await Promise.all(ends);
  }

  /** The text with this machine's places. */
  #here(text: string): string {
    return text.replaceAll(PLACES, (whole) => join(this.root, whole, '/'));
  }
}

export const addressOf = (number: number): string => `127.0.0.${20 + number}`;
