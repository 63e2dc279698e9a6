// A gateway of several nodes: the real program in a process for each, on a real nats-server; nodes are killed, frozen, drained
// and started again. What is expected of them is for the tests to say.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import { type NatsServer, type NatsServerOptions, startNatsServer } from '../../fakes/network/nats-server.ts';
import { firstKeyIn, startVoxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

/** What every node of one gateway shares. */
export const SECRET = 'the-secret-of-the-tests-that-all-nodes-of-a-gateway-share';
/** More than a process takes to start on a busy machine. */
export const NODE_START_MS = 30_000;
/** The model of numbered audio costs 0.6 USD a minute: 10 micro-USD a millisecond. */
export const MODEL = 'loopback/numbered';
export const MICRO_USD_PER_MS = 10;

export interface NodeSettings {
  roles: string;
  env?: Record<string, string>;
  /** The path of its `voxgate.js`: that of this checkout, unless another is named. */
  program?: string | undefined;
}

/** Each role on a node of its own. */
export const APART: Readonly<Record<string, NodeSettings>> = {
  accounts: { roles: 'accounts' },
  upstream: { roles: 'upstream' },
  edge: { roles: 'edge' },
};

type Line = { msg: string; port?: number; node?: string } & Record<string, unknown>;

/** The end of what a start says to people. */
const WELCOME = /Voxgate (listens|serves)[\s\S]*\n\n/;

const clusters: Cluster[] = [];
// Registered on import: before the directories are removed, which were imported first.
afterAll(() => Promise.all(clusters.splice(0).map((cluster) => cluster.end())));

/** One node: a process that may be started more than once. */
export class ClusterNode {
  readonly id: string;
  readonly directory: string;
  /** What it has logged since its first start. */
  readonly log: Line[] = [];
  errors = '';
  port = 0;
  /** The first key of the gateway, where this start made the database. */
  key: string | undefined;
  private readonly env: Record<string, string>;
  private readonly program: string | undefined;
  private process!: ChildProcessWithoutNullStreams;
  private readonly watchers = new Set<() => void>();

  constructor(id: string, env: Record<string, string>, program?: string) {
    this.id = id;
    this.program = program;
    this.directory = temporaryDirectory();
    const prices = join(this.directory, 'prices.json');
    writeFileSync(prices, JSON.stringify({ [MODEL]: { live: { unit: 'minute', amount: '0.6' } } }));
    this.env = {
      VOXGATE_PORT: '0',
      VOXGATE_DATA_DIRECTORY: this.directory,
      VOXGATE_PRICES_FILE: prices,
      VOXGATE_SECRET: SECRET,
      VOXGATE_NODE_ID: id,
      VOXGATE_RECOGNISER_WORKERS: '1',
      VOXGATE_LOG_LEVEL: 'debug',
      ...env,
    };
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.process.pid as number;
  }

  /** Resolves when it listens; rejects with what it said when it ends instead. */
  start(): Promise<this> {
    return this.run('listening');
  }

  /** Of a replica of the accounts that another node owns: resolves when it follows. */
  follow(): Promise<this> {
    return this.run('follows the accounts');
  }

  private async run(goal: 'listening' | 'follows the accounts'): Promise<this> {
    const child = startVoxgate(['serve'], this.env, this.program);
    this.process = child;
    const from = this.log.length;
    let welcome = '';
    child.stderr.on('data', (chunk) => {
      this.errors += chunk;
      welcome += chunk;
      this.key ??= firstKeyIn(this.env.VOXGATE_DATA_DIRECTORY ?? this.directory);
      this.tell();
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.log.push(JSON.parse(line) as Line);
      this.tell();
    });
    const closed = once(child, 'close').then(([code]) => {
      throw new Error(`The node ${this.id} ended with ${code} before it listened: ${this.errors}`);
    });
    closed.catch(() => {});
    // Two pipes: what is said on one may be here before what was said on the other.
    const isHere = () =>
      this.log.slice(from).some(({ msg }) => msg === goal) && (goal !== 'listening' || WELCOME.test(welcome));
    await Promise.race([this.until(isHere), closed]);
    this.port = this.log.findLast(({ msg }) => msg === 'listening')?.port ?? 0;
    return this;
  }

  /** Resolves with the line of the log, from that place on. */
  async logged(msg: string, matches: (line: Line) => boolean = () => true, from = 0): Promise<Line> {
    const find = () => this.log.slice(from).find((line) => line.msg === msg && matches(line));
    await this.until(() => find() !== undefined);
    return find() as Line;
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  /** Whether its process has ended. */
  get hasEnded(): boolean {
    return this.process !== undefined && (this.process.exitCode !== null || this.process.signalCode !== null);
  }

  /** Sends a signal and resolves with the exit code when the process is gone; null after a kill. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.process === undefined || this.hasEnded) return this.process?.exitCode ?? null;
    const closed = once(this.process, 'close');
    this.process.kill('SIGCONT');
    this.process.kill(signal);
    const [code] = await closed;
    return code as number | null;
  }

  private until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!isTrue()) return;
        this.watchers.delete(look);
        resolve();
      };
      this.watchers.add(look);
      look();
    });
  }

  private tell(): void {
    for (const look of [...this.watchers]) look();
  }
}

export class Cluster {
  readonly nats: NatsServer;
  readonly nodes = new Map<string, ClusterNode>();
  private readonly env: Record<string, string>;

  private constructor(nats: NatsServer, env: Record<string, string>) {
    this.nats = nats;
    this.env = env;
  }

  /** Starts the nodes one after the other, the one with the accounts first of all. `env`: for all of them. */
  static async start(
    nodes: Record<string, NodeSettings>,
    env: Record<string, string> = {},
    nats: NatsServerOptions = { jetStream: true },
  ): Promise<Cluster> {
    const cluster = new Cluster(await startNatsServer(nats), env);
    clusters.push(cluster);
    const isKeeper = ({ roles }: NodeSettings) => roles.includes('accounts');
    const ordered = Object.entries(nodes).sort(([, a], [, b]) => Number(isKeeper(b)) - Number(isKeeper(a)));
    for (const [id, settings] of ordered) await cluster.add(id, settings);
    return cluster;
  }

  add(id: string, settings: NodeSettings): Promise<ClusterNode> {
    return this.make(id, settings).start();
  }

  /** A node that is not started. */
  make(id: string, { roles, env = {}, program }: NodeSettings): ClusterNode {
    const settings = { VOXGATE_NATS: this.nats.url, VOXGATE_ROLES: roles, ...this.env, ...env };
    const node = new ClusterNode(id, settings, program);
    this.nodes.set(id, node);
    return node;
  }

  node(id: string): ClusterNode {
    const node = this.nodes.get(id);
    if (node === undefined) throw new Error(`There is no node ${id}.`);
    return node;
  }

  /** The key that the first start of the accounts made. */
  get key(): string {
    return [...this.nodes.values()].find(({ key }) => key !== undefined)?.key ?? '';
  }

  async end(): Promise<void> {
    await Promise.all([...this.nodes.values()].map((node) => node.end('SIGKILL')));
    await this.nats.stop();
  }
}
