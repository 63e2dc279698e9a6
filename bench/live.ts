// `npm run bench -- live [--sessions 500] [--frame-ms 20] [--seconds 10] [--warm 20] [--rounds 5] [--targets a,b] [--json]`: what
// live sessions cost on one core, how long their clients wait, and the same with relays that do nothing else. All take turns in each round.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../bin/build.js';
import { figuresOf, type Measured } from './live/figures.ts';
import { type NativeProgram, nextLine, startNative } from './live/native.ts';
import { TARGETS, type Target, type TargetName } from './live/targets.ts';
import { cpuMsOf, machineBusyMs, residentMbOf } from './processes.ts';
import { textOf } from './spread.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const cache = `${root}.cache/bench`;
const BYTES_PER_MS = 32;

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    sessions: { type: 'string', default: '500' },
    'frame-ms': { type: 'string', default: '20' },
    seconds: { type: 'string', default: '10' },
    warm: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '5' },
    targets: { type: 'string', default: Object.keys(TARGETS).join(',') },
    query: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
const sessions = Number(options.sessions);
const frameMs = Number(options['frame-ms']);
const seconds = Number(options.seconds);

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
const names = options.targets.split(',').filter((name) => name !== 'direct') as TargetName[];
const rounds: Record<string, Measured[]> = {};
for (let round = 0; round < Number(options.rounds); round++) {
  for (const name of ['direct' as const, ...names]) {
    const measured = await measure(name);
    rounds[name] = [...(rounds[name] ?? []), measured];
    if (!options.json) console.error(name, JSON.stringify(measured));
  }
}
const targets = figuresOf(rounds);
if (!options.json) {
  for (const [name, figures] of Object.entries(targets)) {
    console.table(Object.fromEntries(Object.entries(figures).map(([figure, of]) => [figure, { [name]: textOf(of) }])));
  }
}
console.log(JSON.stringify({ sessions, frame_ms: frameMs, rounds: Number(options.rounds), seconds, targets }));

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

async function load(target: Connected, upstream: NativeProgram): Promise<Measured> {
  const { port, path, headers, pid } = target;
  const sizes = [sessions, frameMs * BYTES_PER_MS, frameMs, options.warm, seconds];
  const program = startNative(cache, 'load', [port, path, headers, ...sizes].map(String));
  const emptyMb = pid === undefined ? 0 : residentMbOf(pid);
  await nextLine(program);
  await nextLine(program);
  const before = await spentOf(pid, upstream);
  await nextLine(program);
  const after = await spentOf(pid, upstream);
  const residentMb = pid === undefined ? 0 : residentMbOf(pid);
  const result = JSON.parse(await nextLine(program)) as LoadResult;
  const share = (of: 'targetMs' | 'machineMs' | 'upstreamMs') => (after[of] - before[of]) / seconds / 1000;
  return {
    ...(pid === undefined ? {} : { coreShare: share('targetMs'), residentMb, grownMb: residentMb - emptyMb }),
    delayP50Ms: result.delayMs.p50,
    delayP99Ms: result.delayMs.p99,
    audioP50Ms: after.audio.p50,
    audioP99Ms: after.audio.p99,
    loadShare: result.coreShare,
    upstreamShare: share('upstreamMs'),
    othersShare: Math.max(0, share('machineMs') - share('targetMs') - share('upstreamMs') - result.coreShare),
    missingShare: (result.seconds - result.answers) / Math.max(1, result.seconds),
    gone: result.gone + result.blocked,
    lateShare: result.lateFrames / result.frames,
  };
}

/** A target, or the provider, which is not measured. */
type Connected = Omit<Target, 'pid'> & { pid?: number };

function directly(port: number): Connected {
  return { port, path: '/v1/listen', headers: '', stop: async () => {} };
}

/** Processor times so far, and the delays of the audio since they were last read. */
async function spentOf(pid: number | undefined, upstream: NativeProgram) {
  const line = nextLine(upstream);
  upstream.process.stdin.write('?');
  const audio = JSON.parse(await line) as { cpuSeconds: number; p50: number; p99: number };
  const targetMs = pid === undefined ? 0 : cpuMsOf(pid);
  return { targetMs, machineMs: machineBusyMs(), upstreamMs: audio.cpuSeconds * 1_000, audio };
}
