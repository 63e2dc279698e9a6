// `npm run bench -- join [sessions] [--ledger DIRECTORY]`: how long a replica of the accounts with an empty disk takes until it follows
// the log, with a ledger of so many settled sessions; what the built programs take for it, and how long holds take meanwhile. The
// ledger is made first, at a few thousand sessions a second; `--ledger` names a data directory in which it is kept for the next run.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { createAccountsClient } from '../src/cluster/accounts/client.ts';
import { openNatsBus } from '../src/cluster/bus/nats/bus.ts';
import { createRemoteStore } from '../src/node/store/remote-store.ts';
import { DATABASE_NAME } from '../src/store/keep-database.ts';
import { compiledStore } from './compiled-store.ts';
import { startNatsServers } from './replicas/nats-servers.ts';
import { createPayer, type Payer, settledPerSecond, settleOne } from './settlements.ts';
import { percentile } from './spread.ts';

const words = process.argv.slice(2);
const sessions = Number(words.find((word) => /^\d+$/.test(word)) ?? 1_000_000);
const ledgerAt = words.indexOf('--ledger');
const SECRET = 'a-secret-that-is-long-enough-for-a-bench';
const PREFIX = 'bench-join';
/** Sessions opened and settled a second meanwhile. */
const PER_SECOND = 50;
const CALM_MS = 10_000;
const PROGRAM = fileURLToPath(new URL('../bin/voxgate.js', import.meta.url));

const statusOf = (pid: number, name: string): number =>
  Math.round(
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  );
/** Of the whole process, in MiB. */
const memoryOf = (pid: number): number => statusOf(pid, 'VmRSS');
const peakOf = (pid: number): number => statusOf(pid, 'VmHWM');
const round = (value: number): number => Math.round(value * 10) / 10;
const spread = (times: number[]) => ({
  p50: round(percentile(times, 0.5)),
  p99: round(percentile(times, 0.99)),
  most: round(Math.max(...times)),
});

const root = mkdtempSync(join(tmpdir(), 'voxgate-bench-'));
const ledger = ledgerAt < 0 ? join(root, 'ledger') : (words[ledgerAt + 1] as string);
const children: ChildProcess[] = [];
const stops: (() => Promise<void>)[] = [];
try {
  await makeLedger();
  await measure();
} finally {
  for (const child of children) child.kill('SIGKILL');
  for (const stop of stops) await stop();
  rmSync(root, { recursive: true, force: true });
}

async function makeLedger(): Promise<void> {
  if (existsSync(join(ledger, DATABASE_NAME))) return;
  mkdirSync(ledger, { recursive: true, mode: 0o700 });
  const { openSqliteStore } = await compiledStore();
  const store = await openSqliteStore({ directory: ledger });
  const payer = await createPayer(store);
  await settledPerSecond(store, payer, { name: 'made', inFlight: 1_000, renewals: 0, count: sessions });
  await store.close();
}

interface Node {
  pid: number;
  /** Resolves with the milliseconds since its start. */
  logged(message: string): Promise<number>;
}

function start(node: string, nats: readonly string[]): Node {
  const directory = join(root, node);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const startedMs = performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    env: {
      PATH: process.env.PATH,
      VOXGATE_PORT: '0',
      VOXGATE_DATA_DIRECTORY: directory,
      VOXGATE_SECRET: SECRET,
      VOXGATE_NATS: nats.join(','),
      VOXGATE_NATS_PREFIX: PREFIX,
      VOXGATE_NATS_REPLICAS: `${nats.length}`,
      VOXGATE_ROLES: 'accounts',
      VOXGATE_NODE_ID: node,
      VOXGATE_ACCOUNTS_REPLICAS: '3',
      VOXGATE_VAULT_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return {
    pid: child.pid as number,
    async logged(message) {
      while (!lines.some((line) => line.includes(`"msg":"${message}"`))) {
        const isOver = await Promise.race([
          once(reader, 'line').then(() => false),
          once(child, 'exit').then(() => true),
        ]);
        if (isOver) throw new Error(`${node} ended: ${lines.at(-1)}`);
      }
      return performance.now() - startedMs;
    },
  };
}

async function measure(): Promise<void> {
  const nats = join(root, 'nats');
  mkdirSync(nats);
  const servers = await startNatsServers(nats, true);
  stops.push(() => servers.stop());
  mkdirSync(join(root, 'accounts-1'), { mode: 0o700 });
  copyFileSync(join(ledger, DATABASE_NAME), join(root, 'accounts-1', DATABASE_NAME));
  const owner = start('accounts-1', servers.urls);
  await owner.logged('listening');
  const bus = await openNatsBus({
    ...{ servers: servers.urls, prefix: PREFIX, startMs: 20_000, missing: 'stop' as const },
    secrets: { secret: Buffer.from(SECRET), previousSecret: undefined },
  });
  stops.push(() => bus.close());
  const client = createAccountsClient({ bus, secret: Buffer.from(SECRET) });
  const load = createLoad(createRemoteStore(client.ask), payerIn(join(root, 'accounts-1', DATABASE_NAME)));
  await load.runFor(CALM_MS);
  const calm = load.take();
  const before = memoryOf(owner.pid);
  const joining = start('accounts-4', servers.urls);
  const running = load.run();
  const joinedMs = await joining.logged('follows the accounts');
  load.stop();
  await running;
  const meanwhile = load.take();
  const bytes = statSync(join(root, 'accounts-4', DATABASE_NAME)).size;
  const figures = {
    sessions: countIn(join(root, 'accounts-4', DATABASE_NAME)),
    seconds: round(joinedMs / 1_000),
    mebibytes: round(bytes / 2 ** 20),
    owner_mebibytes: { before, most: peakOf(owner.pid) },
    joining_mebibytes: { most: peakOf(joining.pid), after: memoryOf(joining.pid) },
    hold_ms: { calm: spread(calm.times), meanwhile: spread(meanwhile.times) },
    failed: { calm: calm.failed, meanwhile: meanwhile.failed },
  };
  console.log(
    `A replica with an empty disk follows after ${figures.seconds} s: ${figures.sessions} settled sessions, ${figures.mebibytes} MiB.`,
  );
  console.log(JSON.stringify(figures));
}

interface Load {
  run(): Promise<void>;
  runFor(ms: number): Promise<void>;
  stop(): void;
  /** What was measured since the last time. */
  take(): { times: number[]; failed: number };
}

/** Sessions at a pace, each opened and settled at the owner over the bus. */
function createLoad(store: ReturnType<typeof createRemoteStore>, payer: Payer): Load {
  let times: number[] = [];
  let failed = 0;
  let count = 0;
  let isRunning = false;
  const one = async () => {
    try {
      times.push(await settleOne(store, payer, `load_${count++}`));
    } catch {
      failed++;
    }
  };
  const load: Load = {
    async run() {
      isRunning = true;
      const all: Promise<void>[] = [];
      const startedMs = performance.now();
      while (isRunning) {
        const due = Math.floor(((performance.now() - startedMs) * PER_SECOND) / 1_000);
        while (all.length < due) all.push(one());
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await Promise.all(all);
    },
    async runFor(ms) {
      const running = load.run();
      setTimeout(() => load.stop(), ms);
      await running;
    },
    stop() {
      isRunning = false;
    },
    take() {
      const taken = { times, failed };
      times = [];
      failed = 0;
      return taken;
    },
  };
  return load;
}

function payerIn(file: string): Payer {
  const database = new Database(file, { readonly: true });
  const [organisationId, keyId] = database
    .prepare<[], [string, string]>('SELECT organisation_id, id FROM api_keys ORDER BY number LIMIT 1')
    .raw()
    .get() as [string, string];
  database.close();
  return { organisationId, keyId };
}

function countIn(file: string): number {
  const database = new Database(file, { readonly: true });
  const count = database.prepare<[], number>('SELECT count(*) FROM session_ends').pluck().get() ?? 0;
  database.close();
  return count;
}
