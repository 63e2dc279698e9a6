// `npm run bench -- memory [--sessions 1000] [--idle 10000] [--seconds 10] [--settle 30] [--json]`: the memory of the whole process before,
// during and after a crowd of sessions with audio, again for the next crowd, and with many sessions that send nothing.
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../bin/build.js';
import { nextLine, startNative } from './live/native.ts';
import { startGateway, type Target } from './live/targets.ts';
import { openFilesMax, residentMbOf } from './processes.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const cache = `${root}.cache/bench`;
const FRAME_MS = 20;
const FRAME_BYTES = 32 * FRAME_MS;
/** Sends one frame each, and no second one while the bench runs. */
const IDLE_FRAME_MS = 3_600_000;
/** The clients of the load begin within nine seconds. */
const WARM_SECONDS = 10;
const FILES_FOR_OTHER_USES = 500;
const IDLE_REFERENCE = 10_000;

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    sessions: { type: 'string', default: '1000' },
    idle: { type: 'string', default: String(IDLE_REFERENCE) },
    seconds: { type: 'string', default: '10' },
    settle: { type: 'string', default: '30' },
    json: { type: 'boolean', default: false },
  },
});
const sessions = Number(options.sessions);
const settleMs = Number(options.settle) * 1_000;
/** A session has a socket to its client and one to its provider. */
const idle = Math.min(Number(options.idle), Math.floor((openFilesMax() - FILES_FOR_OTHER_USES) / 2));

await ensureBuilt(root);
const [first, next] = await onGateway(async (target) => {
  const startMb = residentMbOf(target.pid);
  return [await crowd(target, startMb), await crowd(target, startMb)];
});
const rows = {
  [`first ${sessions} sessions`]: first,
  [`next ${sessions} sessions`]: next,
  'idle sessions': await onGateway(idleCrowd),
};
if (!options.json) console.table(rows);
console.log(JSON.stringify({ rows }));

async function onGateway<Figures>(work: (target: Target) => Promise<Figures>): Promise<Figures> {
  const upstream = startNative(cache, 'upstream');
  const target = await startGateway({ upstreamPort: Number(await nextLine(upstream)), query: {} }, 'auto');
  try {
    await delay(settleMs);
    return await work(target);
  } finally {
    await target.stop();
    upstream.process.stdin.end();
  }
}

/** Megabytes. `startMb`: before the first session. */
async function crowd(target: Target, startMb: number) {
  const duringMb = await residentWith(target, sessions, FRAME_MS, Number(options.seconds));
  await delay(settleMs);
  const afterMb = residentMbOf(target.pid);
  return rounded({
    sessions,
    start_mb: startMb,
    during_mb: duringMb,
    after_mb: afterMb,
    after_vs_start: afterMb / startMb,
  });
}

/** Fewer sessions than asked for where the system does not allow so many open files: then `mb_for_10000` is a calculation. */
async function idleCrowd(target: Target) {
  const startMb = residentMbOf(target.pid);
  const duringMb = await residentWith(target, idle, IDLE_FRAME_MS, 1);
  const eachMb = (duringMb - startMb) / idle;
  return rounded({
    ...{ sessions: idle, start_mb: startMb, during_mb: duringMb },
    ...{ kb_each: eachMb * 1_024, mb_for_10000: startMb + eachMb * IDLE_REFERENCE },
  });
}

/** At the end of the load, before its clients go. */
async function residentWith(
  { port, path, headers, pid }: Target,
  count: number,
  frameMs: number,
  seconds: number,
): Promise<number> {
  const args = [port, path, headers, count, FRAME_BYTES, frameMs, WARM_SECONDS, seconds];
  const load = startNative(cache, 'load', args.map(String));
  for (const _phase of ['open', 'begin', 'end']) await nextLine(load);
  const residentMb = residentMbOf(pid);
  const { gone } = JSON.parse(await nextLine(load)) as { gone: number };
  if (gone > 0) throw new Error(`${gone} of ${count} sessions were closed.`);
  return residentMb;
}

function rounded<Figures extends Record<string, number>>(figures: Figures): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Math.round(value * 1_000) / 1_000]),
  ) as Figures;
}
