// `npm run bench -- live [sessions] [seconds]`: holds live sessions on one node, and says what they cost and what they leave.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../../bin/build.js';
import type { Figures, Question } from './process-under-load.ts';

const sessions = Number(process.argv[2] ?? 1_000);
const seconds = Number(process.argv[3] ?? 20);
const tsx = ['--import', 'tsx'];

await ensureBuilt(fileURLToPath(new URL('../../', import.meta.url)));
const gateway = fork(new URL('./process-under-load.ts', import.meta.url), {
  execArgv: [...tsx, '--expose-gc', ...(process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean)],
  serialization: 'advanced',
});
const { url, key, door } = await message<{ url: string; key: string; door: string }>(gateway);

// One short round warms the code, so that what is compared afterwards is sessions and not compilation.
await load(50, 4, () => {});
const before = await figures();
let during: Figures | undefined;
const result = await load(sessions, seconds, async (phase) => {
  if (phase === 'open') ask({ ask: 'reset' });
  else during = await figures();
});
const after = await figures();
ask({ ask: 'stop' });

const wholeSeconds = seconds;
console.log(
  JSON.stringify(
    {
      door,
      ...(JSON.parse(result) as object),
      seconds: wholeSeconds,
      core_share: round((during?.cpuMs ?? 0) / (wholeSeconds * 1000)),
      loop_delay_ms: { p50: round(during?.loopP50Ms), p99: round(during?.loopP99Ms), max: round(during?.loopMaxMs) },
      kib_per_session: round(((during?.residentBytes ?? 0) - before.residentBytes) / 1024 / sessions),
      left_behind: {
        sessions: after.sessions,
        heap_mib: round((after.heapBytes - before.heapBytes) / 1_048_576),
        resources: difference(before.resources, after.resources),
      },
    },
    null,
    2,
  ),
);

function load(count: number, forSeconds: number, onPhase: (phase: string) => unknown): Promise<string> {
  const options = JSON.stringify({ url, key, sessions: count, seconds: forSeconds, frameMs: 20 });
  const child = fork(new URL('./live-load.ts', import.meta.url), [options], {
    execArgv: tsx,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  child.on('message', onPhase);
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    child.on('exit', (code) => (code === 0 ? resolve(output) : reject(new Error(`The load ended with ${code}.`))));
  });
}

async function figures(): Promise<Figures> {
  ask({ ask: 'figures' });
  return message<Figures>(gateway);
}

function ask(question: Question): void {
  gateway.send(question);
}

function message<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve) => child.once('message', (value) => resolve(value as Message)));
}

function difference(earlier: Record<string, number>, later: Record<string, number>): Record<string, number> {
  const kinds = new Set([...Object.keys(earlier), ...Object.keys(later)]);
  return Object.fromEntries(
    [...kinds]
      .map((kind) => [kind, (later[kind] ?? 0) - (earlier[kind] ?? 0)] as const)
      .filter(([, more]) => more !== 0),
  );
}

function round(value: number | undefined): number {
  return Math.round((value ?? 0) * 100) / 100;
}
