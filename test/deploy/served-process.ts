// `voxgate serve` in a process of its own, as a service manager or a container starts it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));

const started: ChildProcess[] = [];
// Registered on import, so that one may also be started inside a test.
afterAll(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

export interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** The variables of a file of `NAME=value` lines. */
export function environmentOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => /^([A-Z_]+)=(.*)$/.exec(line)!.slice(1, 3) as [string, string]));
}

export class ServedProcess {
  /** A user without any right; every Linux has it. */
  static readonly SOMEBODY = 65_534;

  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  /**
   * Resolves when it listens, on a port of its own unless `env` names one.
   *
   * @param uid as whom; the test's own user when absent
   * @param directory where the program is installed
   */
  static async start(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    uid?: number,
    directory = CHECKOUT,
  ): Promise<ServedProcess> {
    // Another user may not be let into the checkout: it gets the right to read, and none to write.
    const rights = ['--inh-caps', '+dac_read_search', '--ambient-caps', '+dac_read_search', '--no-new-privs'];
    const as = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', ...rights];
    const [program = '', ...rest] = [...as, process.execPath, 'bin/voxgate.js', ...args];
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VOXGATE_'));
    const child = spawn(program, rest, {
      cwd: directory,
      env: { ...Object.fromEntries(inherited), VOXGATE_PORT: '0', VOXGATE_LOOPBACK: 'on', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    started.push(child);
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const { msg, port } = JSON.parse(line) as { msg: string; port?: number };
      if (msg !== 'listening' || port === undefined) continue;
      child.stdout.resume();
      return new ServedProcess(child, port);
    }
    throw new Error(`It ended before it listened: ${errors}`);
  }

  async end(signal: NodeJS.Signals): Promise<End> {
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    const [code, by] = await exited;
    return { code, signal: by };
  }
}
