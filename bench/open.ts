// `npm run bench -- open [--rate 200] [--seconds 20] [--warm 15] [--burst 2000] [--held-ms 500] [--door auto] [--json]`: what opening and
// closing sessions costs, and how long a client waits for `session_started`: at an even rate, and when many come at once. Each session
// has its connection to a provider, and its place in the ledger.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../bin/build.js';
import { nextLine, startNative } from './live/native.ts';
import { startGateway, type Target } from './live/targets.ts';
import { residentMbOf } from './processes.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const cache = `${root}.cache/bench`;
const IDLE_MS = 1_000;
const IDLE_ROUNDS = 5;
/** What is left of an earlier load ends meanwhile. */
const SETTLE_MS = 3_000;
const SECONDS_MAX = 30;

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
    warm: { type: 'string', default: '15' },
    burst: { type: 'string', default: '2000' },
    'held-ms': { type: 'string', default: '500' },
    door: { type: 'string', default: 'auto' },
    query: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
const rate = Number(options.rate);

interface LoadResult {
  sessions: number;
  served: number;
  /** Refused, and told when to come again. */
  toldOff: number;
  lost: number;
  endedInOrder: number;
  /** Begun, and not over when the load gave up waiting. */
  unended: number;
  /** From when it was due to its `session_started`. */
  startedMs: { p50: number; p99: number; max: number };
  allStartedMs: number;
  /** How late the load itself was at most, and its share of its core: what is near 1 is no measurement. */
  lateMs: number;
  coreShare: number;
}

interface Cpu {
  mainMs: number;
  othersMs: number;
}

await ensureBuilt(root);
const upstream = startNative(cache, 'upstream');
const upstreamPort = Number(await nextLine(upstream));
const query = Object.fromEntries(new URLSearchParams(options.query));
const target = await startGateway({ upstreamPort, query }, options.door);
try {
  await run(rate * Number(options.warm), rate);
  const idle = await idleShare();
  const even = await run(rate * Number(options.seconds), rate);
  const burst = await run(Number(options.burst), 0);
  const shown = { even: shownOf(even, idle), burst: shownOf(burst, idle) };
  if (!options.json) console.table(shown);
  console.log(JSON.stringify({ rate, ...shown, idle }));
} finally {
  await target.stop();
  upstream.process.stdin.end();
}

interface Measured {
  result: LoadResult;
  cpu: Cpu;
  seconds: number;
  residentMb: number;
}

/** So many openings, at that rate or, for 0, at once. */
async function run(count: number, perSecond: number): Promise<Measured> {
  const { port, path, headers } = target;
  const args = [port, path, headers, count, perSecond, options['held-ms'], SECONDS_MAX + count / (perSecond || count)];
  const load = startNative(cache, 'opens', args.map(String));
  await nextLine(load);
  const [before, beganMs] = [cpuOf(target), performance.now()];
  await nextLine(load);
  const seconds = (performance.now() - beganMs) / 1000;
  const cpu = spent(before, cpuOf(target));
  const result = JSON.parse(await nextLine(load)) as LoadResult;
  const residentMb = residentMbOf(target.pid);
  await delay(SETTLE_MS);
  return { result, cpu, seconds, residentMb };
}

/** What the process uses while nobody comes, in cores: it is no part of what an opening costs. The least of several looks. */
async function idleShare(): Promise<Cpu> {
  const idle = { mainMs: 1, othersMs: 1 };
  for (let round = 0; round < IDLE_ROUNDS; round++) {
    const before = cpuOf(target);
    await delay(IDLE_MS);
    const { mainMs, othersMs } = spent(before, cpuOf(target));
    idle.mainMs = Math.min(idle.mainMs, round3(mainMs / IDLE_MS));
    idle.othersMs = Math.min(idle.othersMs, round3(othersMs / IDLE_MS));
  }
  return idle;
}

function shownOf({ result, cpu, seconds, residentMb }: Measured, idle: Cpu) {
  const { startedMs, served, toldOff, lost, unended } = result;
  const each = (ms: number, idleShare: number) => round3((ms - idleShare * seconds * 1000) / Math.max(1, served));
  const [main, others] = [each(cpu.mainMs, idle.mainMs), each(cpu.othersMs, idle.othersMs)];
  return {
    started_p50_ms: startedMs.p50,
    started_p99_ms: startedMs.p99,
    all_started_ms: result.allStartedMs,
    cpu_ms: round3(main + others),
    cpu_main_ms: main,
    cpu_others_ms: others,
    served,
    told_off: toldOff,
    lost,
    unended,
    load_core: result.coreShare,
    load_late_ms: result.lateMs,
    resident_mb: Math.round(residentMb),
  };
}

/** Of the main thread, and of all others: that of the database, the collector's, the compiler's. */
function cpuOf({ pid }: Target): Cpu {
  let [mainMs, allMs] = [0, 0];
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    // A thread may end meanwhile; what it has used is then small.
    const ms = Number(contentOf(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1e6;
    allMs += ms;
    if (thread === String(pid)) mainMs = ms;
  }
  return { mainMs, othersMs: allMs - mainMs };
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '0';
  }
}

function spent(before: Cpu, after: Cpu): Cpu {
  return { mainMs: after.mainMs - before.mainMs, othersMs: after.othersMs - before.othersMs };
}

function round3(value: number): number {
  return Math.round(value * 1000) / 1000;
}
