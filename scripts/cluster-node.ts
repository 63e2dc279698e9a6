// A process of the cluster that `npm run cluster` shows: a node, or a simulated provider. What it is told is its environment;
// when it dies is decided by the show.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../bin/voxgate.js', import.meta.url));
const LEGS = /^voxgate_queue_depth\{queue="upstream_legs"[^}]*\} (\d+)$/m;

export class ClusterProcess {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly #child: ChildProcessWithoutNullStreams;

  private constructor(name: string, child: ChildProcessWithoutNullStreams, url: string) {
    this.name = name;
    this.pid = child.pid as number;
    this.#child = child;
    this.url = url;
  }

  /** Resolves when it has told its address. Rejects with what it said when it ended instead. */
  static async start(name: string, args: readonly string[], env: Record<string, string>): Promise<ClusterProcess> {
    const inherited = Object.entries(process.env).filter(([variable]) => !variable.startsWith('VOXGATE_'));
    const child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...Object.fromEntries(inherited), ...env } });
    child.stdin.end();
    let said = '';
    const told = new Promise<string>((resolve) => {
      const hear = (line: string) => {
        said += `${line}\n`;
        const [url] = /\b(https?|wss?):\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
        if (url !== undefined) resolve(url);
      };
      createInterface({ input: child.stderr }).on('line', hear);
      // A node's own log is JSON lines, and carries no address.
      createInterface({ input: child.stdout }).on('line', hear);
    });
    const ended = once(child, 'exit').then(() => {
      throw new Error(`${name} did not start: ${said.trim()}`);
    });
    ended.catch(() => {});
    const url = await Promise.race([told, ended]);
    return new ClusterProcess(name, child, url);
  }

  /** Connections to providers that it holds now. */
  async legs(): Promise<number> {
    const response = await fetch(`${this.url}/metrics`);
    return Number(LEGS.exec(await response.text())?.[1] ?? 0);
  }

  /** Ends it as a loss of power would, or in order; resolves when it is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
}
