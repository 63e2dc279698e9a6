// `voxgate serve` in a process of its own, with clients that count every sample, and a way to meddle with the process from
// within: what no client and no signal can bring about.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import { numberedAudio } from '../audio/numbered-audio.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { LiveClient } from './live-gateway.ts';
import { firstKeyIn, PROGRAM, UNDER_TEST } from './voxgate.ts';

const RATE = 16_000;

export interface ServingOptions {
  env?: Record<string, string>;
  /** The path of `voxgate.js`; that of the checkout when absent. */
  program?: string;
  /** Program and arguments before `node`, such as `prlimit`. */
  before?: readonly string[];
  /** Code that the process runs with `count` from 1 each time that it is meddled with. `tell(name)` writes a log line. */
  meddle?: string;
  /** Arguments of Node itself. */
  nodeArguments?: readonly string[];
  /** In the place of a pipe that is read. */
  output?: number;
}

const started: ChildProcess[] = [];
// Registered on import, so that one may also be started inside a test.
afterAll(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

export class Serving {
  readonly child: ChildProcess;
  readonly directory: string;
  /** Log lines so far. */
  readonly lines: { msg: string; level?: string; port?: number }[] = [];
  errors = '';
  readonly exited: Promise<unknown[]>;
  private readonly watchers = new Set<() => void>();

  private constructor(child: ChildProcess, directory: string) {
    this.child = child;
    this.directory = directory;
    // Whatever it said has been read by then.
    this.exited = once(child, 'close');
    started.push(child);
    child.stderr?.on('data', (chunk) => {
      this.errors += chunk;
      this.look();
    });
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.lines.push(JSON.parse(line) as (typeof this.lines)[number]);
      this.look();
    });
  }

  /** Resolves when it has told its address and its first key, and has logged that it listens. */
  static async start(options: ServingOptions = {}): Promise<Serving> {
    const { env = {}, program: voxgate = PROGRAM, before = [], meddle, nodeArguments = [], output } = options;
    const directory = env.VOXGATE_DATA_DIRECTORY ?? temporaryDirectory();
    const preloaded = meddle === undefined ? [] : ['--import', preload(meddle)];
    const [program = '', ...rest] = [...before, process.execPath, ...nodeArguments, ...preloaded, voxgate, 'serve'];
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VOXGATE_'));
    const child = spawn(program, rest, {
      env: {
        ...Object.fromEntries(inherited),
        ...UNDER_TEST,
        VOXGATE_PORT: '0',
        VOXGATE_DATA_DIRECTORY: directory,
        // Some knock until they are let in.
        VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000',
        VOXGATE_DOOR: process.env.VOXGATE_DOOR ?? 'auto',
        ...env,
      },
      stdio: ['ignore', output ?? 'pipe', 'pipe'],
    });
    const serving = new Serving(child, directory);
    await serving.until(() => serving.errors.includes('curl') || undefined, 'its welcome');
    // Another stream, which may come later.
    if (child.stdout !== null) await serving.logged('listening');
    return serving;
  }

  get url(): string {
    return /http:\/\/[\d.]+:\d+/.exec(this.errors)?.[0] ?? '';
  }

  get key(): string {
    return firstKeyIn(this.directory) ?? '';
  }

  /** Resolves with the first value that is not undefined, looked for after each line; rejects when the process ends before. */
  until<Value>(look: () => Value | undefined, what: string): Promise<Value> {
    return new Promise((resolve, reject) => {
      const watch = () => {
        const found = look();
        if (found === undefined) return;
        this.watchers.delete(watch);
        resolve(found);
      };
      this.watchers.add(watch);
      void this.exited.then(() => reject(new Error(`It ended before ${what}: ${this.errors}`)));
      watch();
    });
  }

  logged(message: string): Promise<unknown> {
    return this.until(() => this.lines.find(({ msg }) => msg === message), `"${message}"`);
  }

  /** Runs the meddling code once more. */
  meddle(): void {
    this.child.kill('SIGUSR2');
  }

  connect(query: Record<string, string> = {}, authorize = true): LiveClient {
    const all = { model: 'loopback/numbered', provider_params: '{"turn_seconds":1}', ...query };
    const url = `${this.url.replace('http', 'ws')}/v1/listen?${new URLSearchParams(all)}`;
    return new LiveClient(url, [], { headers: authorize ? { Authorization: `Bearer ${this.key}` } : {} });
  }

  /** A session that has begun and has sent so many samples of numbered audio. */
  async speak(samples = 0): Promise<Speaking> {
    const client = this.connect();
    await client.event('session_started');
    const speaking = new Speaking(client);
    if (samples > 0) speaking.send(samples);
    return speaking;
  }

  request(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, { ...init, headers: { Authorization: `Bearer ${this.key}`, ...init.headers } });
  }

  /** Sends the signal and gives the exit code, and the signal that ended it. */
  async end(signal: NodeJS.Signals): Promise<unknown[]> {
    this.child.kill(signal);
    return this.exited;
  }

  private look(): void {
    for (const watch of [...this.watchers]) watch();
  }
}

/** A client that goes on with its numbered audio where it was. */
export class Speaking {
  readonly client: LiveClient;
  samples = 0;

  constructor(client: LiveClient) {
    this.client = client;
  }

  /** One second is one turn. */
  send(samples = RATE): void {
    this.client.send(numberedAudio(this.samples, this.samples + samples));
    this.samples += samples;
  }

  /** Resolves when everything up to now has its final. */
  heard(): Promise<unknown> {
    return this.client.event('transcript', ({ is_final, end }) => is_final && Math.round(end * RATE) >= this.samples);
  }

  /** Says that no more comes, and resolves with the close code. */
  async finish(): Promise<number> {
    this.client.send({ type: 'close' });
    return (await this.client.close()).code;
  }
}

/** A module that runs the code at each SIGUSR2. */
function preload(code: string): string {
  const module = `
    import { writeSync } from 'node:fs';
    import { isMainThread } from 'node:worker_threads';
    const tell = (msg) => writeSync(1, JSON.stringify({ msg }) + '\\n');
    let count = 0;
    if (isMainThread) process.on('SIGUSR2', () => { count++; ${code} });
  `;
  return `data:text/javascript,${encodeURIComponent(module)}`;
}
