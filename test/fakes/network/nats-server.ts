// A real nats-server for tests: on a port that it keeps, with its files in a temporary directory; it can be killed, frozen
// and started again. What is said over it is not known here.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryDirectory } from '../temporary-directory.ts';

// Debian puts it where only root looks.
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;
const STARTS_MAX = 20;
// Below the ports that connections are given: nobody else's connection, and no client that tries to come back, has it.
const PORT_MIN = 20_000;
const PORTS = 12_000;

/** Whether the program is installed. A test that needs it is skipped without it, and fails where everything must run. */
export const natsServerIsHere = spawnSync('nats-server', ['--version'], { env: { ...process.env, PATH } }).status === 0;
if (!natsServerIsHere) {
  const reason = 'nats-server is not installed: `apt-get install nats-server`';
  if (process.env.CI === 'true') throw new Error(`${reason}. No test is skipped under CI.`);
  console.warn(`${reason}; tests that need it are skipped.`);
}

export interface NatsServerOptions {
  jetStream?: boolean;
  /** JetStream syncs each message to the disk. */
  syncsAlways?: boolean;
  /** More of the configuration file, in its own words. */
  config?: string;
  /** One below 32768, where nobody else's connection can have it. A free one is found when absent. */
  port?: number;
  host?: string;
  /** Where JetStream keeps its files; a temporary directory when absent. */
  storeDirectory?: string;
  /** A network namespace that it runs in. */
  namespace?: string;
  /** The path of another one than the installed `nats-server`. */
  program?: string;
}

export class NatsServer {
  readonly url: string;
  readonly port: number;
  readonly storeDirectory: string;
  /** What it has logged since the first start. */
  readonly log: string[];
  readonly #command: string[];
  #child: ChildProcess;

  /** @internal */
  constructor(started: { url: string; port: number; storeDirectory: string; command: string[]; log: string[] }) {
    this.url = started.url;
    this.port = started.port;
    this.storeDirectory = started.storeDirectory;
    this.log = started.log;
    this.#command = started.command;
    this.#child = run(this.#command);
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** @internal Resolves when clients can connect; rejects when it ended instead. */
  async ready(): Promise<void> {
    const child = this.#child;
    const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream });
    const isReady = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        this.log.push(line);
        if (line.includes('Server is ready')) resolve();
      });
    });
    const ended = once(child, 'close').then(() => {
      throw new Error(`nats-server ended: ${this.log.slice(-5).join('\n')}`);
    });
    ended.catch(() => {});
    await Promise.race([isReady, ended]);
  }

  /** Ends it at once, as a loss of power would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Starts it again on its port with its files; kills it first where it runs. */
  async restart(): Promise<void> {
    await this.kill();
    this.#child = run(this.#command);
    await this.ready();
  }

  /** Stops it from doing anything; connections stay. Returns when it has stopped: until then it might answer once more. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
    const status = `/proc/${this.#child.pid}/status`;
    while (existsSync(status) && !/^State:\s+[TZ]/m.test(readFileSync(status, 'utf8')));
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    await this.kill();
  }
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function run([program, ...args]: string[]): ChildProcess {
  const child = spawn(program as string, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Starts one. Whoever starts it stops it. */
export async function startNatsServer(options: NatsServerOptions = {}): Promise<NatsServer> {
  if (!natsServerIsHere && options.program === undefined)
    throw new Error('nats-server is not installed: `apt-get install nats-server`.');
  const { host = '127.0.0.1' } = options;
  const directory = temporaryDirectory();
  const storeDirectory = options.storeDirectory ?? join(directory, 'store');
  for (let starts = 1; ; starts++) {
    const port = options.port ?? PORT_MIN + Math.floor(Math.random() * PORTS);
    const file = join(directory, `nats-${port}.conf`);
    const sync = options.syncsAlways === true ? ', sync_interval: always' : '';
    const store = JSON.stringify(storeDirectory);
    const jetStream = options.jetStream === true ? `jetstream { store_dir: ${store}${sync} }` : '';
    writeFileSync(file, `host: ${host}\nport: ${port}\n${jetStream}\n${options.config ?? ''}\n`, { mode: 0o600 });
    const inside = options.namespace === undefined ? [] : ['ip', 'netns', 'exec', options.namespace];
    const server = new NatsServer({
      url: `nats://${host}:${port}`,
      port,
      storeDirectory,
      command: [...inside, options.program ?? 'nats-server', '-c', file],
      log: [],
    });
    try {
      await server.ready();
      return server;
    } catch (error) {
      if (starts === STARTS_MAX || options.port !== undefined || !String(error).includes('in use')) throw error;
    }
  }
}
