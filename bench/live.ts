// `npm run bench -- live [--sessions 500] [--frame-ms 20] [--seconds 10] [--warm 20] [--rounds 3] [--targets a,b] [--json]`: what
// live sessions cost on one core, and what the gateway adds to their delay, beside relays that do nothing else, in one run.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../bin/build.js';
import { type NativeProgram, nextLine, startNative } from './live/native.ts';
import { type GatewayTarget, TARGETS, type Target, type TargetName } from './live/targets.ts';
import { median } from './median.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const cache = `${root}.cache/bench`;
const BYTES_PER_MS = 32;
/** Ticks of the kernel's CPU times. */
const TICK_MS = 10;

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    sessions: { type: 'string', default: '500' },
    'frame-ms': { type: 'string', default: '20' },
    seconds: { type: 'string', default: '10' },
    warm: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    targets: { type: 'string', default: Object.keys(TARGETS).join(',') },
    query: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
const sessions = Number(options.sessions);
const frameMs = Number(options['frame-ms']);
const seconds = Number(options.seconds);

/** One target in one round. */
interface Measured {
  coreShare: number;
  /** From the end of a second of audio until its answer. */
  delayP50Ms: number;
  delayP99Ms: number;
  /** From the client's frame until its provider has it: what waits for more audio is in it. */
  audioP50Ms: number;
  audioP99Ms: number;
  megabytes: number;
  /** Of the target's event loop; 0 where it has none, or does not tell. */
  loopP99Ms: number;
  /** Shares of a core: where they come near 1, what is measured is not the target. */
  loadShare: number;
  upstreamShare: number;
  /** Seconds of audio without their answer, clients that were closed, and frames that left late. */
  missing: number;
  gone: number;
  lateShare: number;
}

interface LoadResult {
  gone: number;
  frames: number;
  lateFrames: number;
  blocked: number;
  answers: number;
  seconds: number;
  delayMs: { p50: number; p99: number };
  coreShare: number;
}

await ensureBuilt(root);
const names = options.targets.split(',') as TargetName[];
const rounds: Record<string, Measured[]> = { direct: [] };
for (let round = 0; round < Number(options.rounds); round++) {
  for (const name of ['direct' as const, ...names]) {
    const measured = await measure(name);
    rounds[name] = [...(rounds[name] ?? []), measured];
    if (!options.json) console.error(name, JSON.stringify(measured));
  }
}
report();

async function measure(name: TargetName | 'direct'): Promise<Measured> {
  const upstream = startNative(cache, 'upstream', [String(frameMs * BYTES_PER_MS)]);
  const upstreamPort = Number(await nextLine(upstream));
  const query = Object.fromEntries(new URLSearchParams(options.query));
  const target = name === 'direct' ? directly(upstreamPort) : await TARGETS[name]({ upstreamPort, query });
  try {
    return await load(target, upstream);
  } finally {
    await target.stop();
    upstream.process.stdin.end();
  }
}

async function load(target: Target, upstream: NativeProgram): Promise<Measured> {
  const { port, path, headers } = target;
  const sizes = [sessions, frameMs * BYTES_PER_MS, frameMs, options.warm, seconds];
  const program = startNative(cache, 'load', [port, path, headers, ...sizes].map(String));
  const emptyMegabytes = megabytesOf(target.pid);
  await nextLine(program);
  await nextLine(program);
  const figures = 'figures' in target ? (target as GatewayTarget) : undefined;
  figures?.reset();
  const before = { cpuMs: cpuMsOf(target.pid), upstream: await told(upstream) };
  await nextLine(program);
  const after = { cpuMs: cpuMsOf(target.pid), upstream: await told(upstream) };
  const megabytes = megabytesOf(target.pid);
  const loopP99Ms = (await figures?.figures())?.loopP99Ms ?? 0;
  const result = JSON.parse(await nextLine(program)) as LoadResult;
  return {
    coreShare: (after.cpuMs - before.cpuMs) / seconds / 1000,
    delayP50Ms: result.delayMs.p50,
    delayP99Ms: result.delayMs.p99,
    megabytes: Math.round(megabytes - emptyMegabytes),
    loopP99Ms,
    loadShare: result.coreShare,
    audioP50Ms: after.upstream.p50,
    audioP99Ms: after.upstream.p99,
    upstreamShare: (after.upstream.cpuSeconds - before.upstream.cpuSeconds) / seconds,
    missing: result.seconds - result.answers,
    gone: result.gone + result.blocked,
    lateShare: result.lateFrames / result.frames,
  };
}

function directly(port: number): Target {
  return { port, path: '/v1/listen', headers: '', pid: process.pid, stop: async () => {} };
}

/** What the provider has to say since it was asked before. */
async function told(upstream: NativeProgram): Promise<{ cpuSeconds: number; p50: number; p99: number }> {
  const line = nextLine(upstream);
  upstream.process.stdin.write('?');
  return JSON.parse(await line);
}

/** Of all threads of a process. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function megabytesOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function middle(name: string, figure: keyof Measured): number {
  return median((rounds[name] ?? []).map((measured) => measured[figure]));
}

function report(): void {
  const table = Object.fromEntries(
    Object.keys(rounds).map((name) => [
      name,
      {
        core: share(name),
        'added p50 ms': added(name, 'delayP50Ms'),
        'added p99 ms': added(name, 'delayP99Ms'),
        'audio p50 ms': added(name, 'audioP50Ms'),
        'audio p99 ms': added(name, 'audioP99Ms'),
        MB: middle(name, 'megabytes'),
        'loop p99 ms': round(middle(name, 'loopP99Ms')),
        'load core': round(middle(name, 'loadShare')),
        'upstream core': round(middle(name, 'upstreamShare')),
        missing: middle(name, 'missing'),
        gone: middle(name, 'gone'),
        'late %': round(middle(name, 'lateShare') * 100),
      },
    ]),
  );
  if (!options.json) console.table(table);
  const ratio = (to: TargetName) =>
    rounds[to] === undefined ? undefined : round(middle('gateway', 'coreShare') / middle(to, 'coreShare'));
  console.log(
    JSON.stringify({
      ratios: {
        cpu_vs_handwritten_ws: ratio('handwritten'),
        cpu_vs_floor: ratio('floor'),
        cpu_vs_nginx: ratio('nginx'),
      },
      added_ms: { p50: added('gateway', 'delayP50Ms'), p99: added('gateway', 'delayP99Ms') },
      audio_added_ms: { p50: added('gateway', 'audioP50Ms'), p99: added('gateway', 'audioP99Ms') },
      loop_p99_ms: round(middle('gateway', 'loopP99Ms')),
      sessions,
      frame_ms: frameMs,
      targets: table,
    }),
  );
}

/** The median and what it lies between. */
function share(name: string): string {
  const shares = (rounds[name] ?? []).map(({ coreShare }) => coreShare);
  return `${round(middle(name, 'coreShare'))} [${round(Math.min(...shares))}-${round(Math.max(...shares))}]`;
}

function added(name: string, figure: `${'delay' | 'audio'}P${50 | 99}Ms`): number {
  return round(middle(name, figure) - middle('direct', figure));
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
