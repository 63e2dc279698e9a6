// `npm run bench -- replicas [sessions] [--rounds N] [--followers N]`: what the replicated log costs the accounts. Three nats-servers on
// this machine, and an owner that follows its own log; beside a store without a log, in turns. Once with messages that are on the
// servers' disks before they are acknowledged (`sync_interval: always`), once with the servers' default. Followers are processes: on
// a machine with few cores their work slows the owner down, as it would not on machines of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Store } from '../src/node/store/store.ts';
import { compiledStore } from './compiled-store.ts';
import { startNatsServers } from './replicas/nats-servers.ts';
import { openReplica } from './replicas/replica.ts';
import { createPayer, type Payer, settledPerSecond, settleOne } from './settlements.ts';
import { percentile, type Spread, spreadOf, textOf } from './spread.ts';

const { values: options, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    followers: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
});
const sessions = Number(positionals[0] ?? 5_000);
const rounds = Number(options.rounds);
const followers = Number(options.followers);
const IN_FLIGHT = [100, 1_000];
/** A tick of the kernel's processor times. */
const TICK_MS = 10;
/** For the time of a hold: sessions a second, and for how long. */
const PACE = { perSecond: 100, seconds: 5 };

/** A store, its payer, and the processes whose time it takes. */
interface Place {
  name: string;
  store: Store;
  payer: Payer;
  pids: Readonly<Record<string, readonly number[]>>;
  close(): Promise<void>;
}

const root = mkdtempSync(join(tmpdir(), 'voxgate-bench-'));
const places: Place[] = [];
try {
  places.push(await alone());
  for (const syncsAlways of [false, true]) places.push(await replicated(syncsAlways));
  for (const { store, payer } of places) {
    await settledPerSecond(store, payer, { name: 'warm', inFlight: 100, renewals: 0, count: 2_000 });
  }
  await report();
} finally {
  for (const place of places) await place.close();
  rmSync(root, { recursive: true, force: true });
}

async function alone(): Promise<Place> {
  const { openSqliteStore } = await compiledStore();
  const directory = join(root, 'alone');
  mkdirSync(directory);
  const store = await openSqliteStore({ directory });
  const payer = await createPayer(store);
  return { name: 'one process', store, payer, pids: { owner: [process.pid] }, close: () => store.close() };
}

async function replicated(syncsAlways: boolean): Promise<Place> {
  const prefix = `bench-${syncsAlways ? 'always' : 'default'}`;
  const directory = (name: string) => {
    const path = join(root, `${prefix}-${name}`);
    mkdirSync(path);
    return path;
  };
  const nats = await startNatsServers(directory('nats'), syncsAlways);
  const owner = await openReplica({ node: 'owner', directory: directory('owner'), servers: nats.urls, prefix });
  const store = await owner.owned;
  const payer = await createPayer(store);
  const children: ChildProcess[] = [];
  for (let index = 0; index < followers; index++) {
    const settings = { node: `follower-${index}`, directory: directory(`${index}`), servers: nats.urls, prefix };
    await owner.database.backup(join(settings.directory, 'voxgate.db'));
    children.push(await follow(settings));
  }
  return {
    name: syncsAlways ? 'log, sync_interval: always' : 'log, default sync',
    ...{ store, payer },
    pids: {
      owner: [process.pid],
      followers: children.map(({ pid }) => pid as number),
      'nats-servers': nats.pids,
    },
    async close() {
      const ended = children.map((child) => once(child, 'exit'));
      for (const child of children) child.stdin?.end();
      await Promise.all(ended);
      await owner.close();
      await nats.stop();
    },
  };
}

async function follow(settings: object): Promise<ChildProcess> {
  const file = fileURLToPath(new URL('./replicas/follower.ts', import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, file, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => {
      throw new Error('A follower ended at its start.');
    }),
  ]);
  return child;
}

interface Round {
  perSecond: number[];
  holdMs: { p50: number; p99: number };
  /** Milliseconds of a core for each session, by process. */
  cpuMs: Record<string, number>;
}

async function measure({ store, payer, pids }: Place, round: number): Promise<Round> {
  const before = cpuOf(pids);
  const perSecond: number[] = [];
  for (const inFlight of IN_FLIGHT) {
    const crowd = { name: `${inFlight}_${round}`, inFlight, renewals: 0, count: sessions };
    perSecond.push(await settledPerSecond(store, payer, crowd));
  }
  const after = cpuOf(pids);
  const cpuMs = Object.fromEntries(
    Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / (sessions * IN_FLIGHT.length)]),
  );
  const times = await paced(store, payer, round);
  return { perSecond, cpuMs, holdMs: { p50: percentile(times, 0.5), p99: percentile(times, 0.99) } };
}

/** The time until each of these sessions was open, in milliseconds; a session does not wait for the one before it. */
async function paced(store: Store, payer: Payer, round: number): Promise<number[]> {
  const all: Promise<number>[] = [];
  const startedMs = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedMs) * PACE.perSecond) / 1_000);
      while (all.length < Math.min(due, PACE.perSecond * PACE.seconds)) {
        all.push(settleOne(store, payer, `paced_${round}_${all.length}`));
      }
      if (all.length < PACE.perSecond * PACE.seconds) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  return Promise.all(all);
}

async function report(): Promise<void> {
  const all = new Map<Place, Round[]>(places.map((place) => [place, []]));
  for (let round = 0; round < rounds; round++) {
    for (const place of places) all.get(place)?.push(await measure(place, round));
  }
  const figures = places.map((place) => {
    const each = all.get(place) ?? [];
    const of = (value: (round: Round) => number): Spread => spreadOf(each.map(value));
    const cpu = Object.keys(place.pids).map((name) => [name, of(({ cpuMs }) => cpuMs[name] ?? 0)] as const);
    return {
      place: place.name,
      settled_per_second: Object.fromEntries(
        IN_FLIGHT.map((inFlight, at) => [inFlight, of(({ perSecond }) => perSecond[at] ?? 0)]),
      ),
      hold_p50_ms: of(({ holdMs }) => holdMs.p50),
      hold_p99_ms: of(({ holdMs }) => holdMs.p99),
      cpu_ms_per_session: Object.fromEntries(cpu),
    };
  });
  for (const { place, settled_per_second, hold_p50_ms, hold_p99_ms, cpu_ms_per_session } of figures) {
    console.log(`${place}`);
    for (const [inFlight, spread] of Object.entries(settled_per_second))
      console.log(`  ${inFlight} in flight: ${textOf(spread)} sessions a second, two writes each`);
    console.log(`  hold at ${PACE.perSecond} a second: p50 ${textOf(hold_p50_ms)} ms, p99 ${textOf(hold_p99_ms)} ms`);
    for (const [name, spread] of Object.entries(cpu_ms_per_session))
      console.log(`  ${name}: ${textOf(spread)} ms of a core for each session`);
  }
  console.log(JSON.stringify({ sessions, rounds, followers, figures }));
}

/** Processor time of each group of processes so far, in milliseconds. */
function cpuOf(groups: Place['pids']): Record<string, number> {
  const ticks = (pid: number): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };
  return Object.fromEntries(
    Object.entries(groups).map(([name, pids]) => [name, pids.reduce((sum, pid) => sum + ticks(pid) * TICK_MS, 0)]),
  );
}
