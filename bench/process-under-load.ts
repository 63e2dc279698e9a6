// A gateway in a process of its own, for benches: tells its address, and what it holds when asked.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import type * as voxgate from '../src/index.ts';

export type Question = { ask: 'figures' } | { ask: 'reset' } | { ask: 'stop' };

/** What the process holds now. Times in milliseconds since the last reset. */
export interface Figures {
  heapBytes: number;
  residentBytes: number;
  cpuMs: number;
  loopP50Ms: number;
  loopP99Ms: number;
  loopMaxMs: number;
  /** Pauses of the garbage collector; the one that this question asks for is not among them. */
  pauses: { count: number; sumMs: number; maxMs: number };
  sessions: number;
  /** Sockets, timers and the like, by kind. */
  resources: Record<string, number>;
  metrics: string;
}

// What is measured is what is shipped: the compiled files.
const compiled = new URL('../dist/src/index.js', import.meta.url);
const { createLogger, loadConfig, startGateway } = (await import(compiled.href)) as typeof voxgate;

const RESOLUTION_MS = 1;
const directory = mkdtempSync(join(tmpdir(), 'voxgate-bench-'));
const config = loadConfig(
  {
    VOXGATE_PORT: '0',
    VOXGATE_LOOPBACK: 'on',
    VOXGATE_DATA_DIRECTORY: directory,
    VOXGATE_SESSIONS_PER_KEY_MAX: '100000',
    VOXGATE_SESSIONS_PER_ORGANISATION_MAX: '100000',
    VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000',
    VOXGATE_LOG_LEVEL: 'silent',
    ...(process.env.BENCH_PRICES_FILE === undefined ? {} : { VOXGATE_PRICES_FILE: process.env.BENCH_PRICES_FILE }),
    ...(process.env.BENCH_DOOR === undefined ? {} : { VOXGATE_DOOR: process.env.BENCH_DOOR }),
    ...(JSON.parse(process.env.BENCH_SETTINGS ?? '{}') as Record<string, string>),
  },
  { providers: process.env.BENCH_PROVIDERS?.split(',') ?? ['local', 'loopback'] },
);
const gateway = await startGateway({ config, logger: createLogger('silent') });
const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
loop.enable();
let cpu = process.cpuUsage();
const noPauses = { count: 0, sumMs: 0, maxMs: 0 };
let pauses = noPauses;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) {
    const { count, sumMs, maxMs } = pauses;
    pauses = { count: count + 1, sumMs: sumMs + duration, maxMs: Math.max(maxMs, duration) };
  }
}).observe({ entryTypes: ['gc'] });

process.on('message', async (question: Question) => {
  if (question.ask === 'reset') {
    loop.reset();
    pauses = noPauses;
    cpu = process.cpuUsage();
  } else if (question.ask === 'figures') {
    const before = pauses;
    globalThis.gc?.();
    process.send?.({ ...(await figures()), pauses: before });
  } else {
    gateway.stop();
    await gateway.ended;
    rmSync(directory, { recursive: true, force: true });
    process.disconnect();
  }
});
process.send?.({
  url: gateway.url,
  key: gateway.firstKey?.secret,
  door: gateway.door,
  database: join(directory, 'voxgate.db'),
});

async function figures(): Promise<Omit<Figures, 'pauses'>> {
  const { heapUsed, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage(cpu);
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  // The histogram counts from one expiry to the next: what is above the resolution is delay.
  const delay = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  return {
    heapBytes: heapUsed,
    residentBytes: rss,
    cpuMs: (user + system) / 1000,
    loopP50Ms: delay(loop.percentile(50)),
    loopP99Ms: delay(loop.percentile(99)),
    loopMaxMs: delay(loop.max),
    sessions: gateway.sessions,
    resources,
    metrics: (await gateway.metrics.read()).body,
  };
}
