// `npm run bench -- batch [rounds] [--json]`: what the gateway adds to a file's way to its provider, how many requests a second it
// takes, and what large uploads cost it in memory and time; the provider itself and another gateway measured in the same run.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../../bin/build.js';
import type { LoadResult, LoadTask } from './batch/load.ts';
import { PEER, startPeer } from './batch/peer.ts';
import { median } from './median.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const rounds = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 3);
const isJsonOnly = process.argv.includes('--json');

const SMALL_BYTES = 16_000;
const LARGE_BYTES = 100_000_000;
const UPLOADS = 4;
const PACED = { perSecond: 50, forMs: 15_000 };
const SATURATED = { connections: 32, forMs: 6_000 };
const BOUNDARY = 'voxgate-bench-boundary';
const FORM_TYPE = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };

type Task = Omit<LoadTask, 'load'>;

await ensureBuilt(root);
const provider = start(new URL('./batch/provider.ts', import.meta.url));
const load = start(new URL('./batch/load.ts', import.meta.url));
const [{ url: providerUrl }] = await Promise.all([message<{ url: string }>(provider), message(load)]);
const simulator = await startSimulator();
const relay = start(new URL('./batch/relay.ts', import.meta.url), {}, [simulator.url]);
const { url: relayUrl } = await message<{ url: string }>(relay);
const gateway = start(new URL('./process-under-load.ts', import.meta.url), {
  BENCH_PROVIDERS: 'openai,deepgram',
  BENCH_SETTINGS: JSON.stringify({
    OPENAI_API_KEY: 'bench',
    VOXGATE_OPENAI_URL: providerUrl,
    DEEPGRAM_API_KEY: 'bench',
    VOXGATE_DEEPGRAM_URL: simulator.url,
  }),
});
const { url: gatewayUrl, key, door } = await message<{ url: string; key: string; door: string }>(gateway);
const peer = await startPeer(root);

const ways = {
  direct: formTask(`${providerUrl}/v1/audio/transcriptions`, { Authorization: 'Bearer bench' }, 'gpt-4o-transcribe'),
  gateway: formTask(
    `${gatewayUrl}/v1/audio/transcriptions`,
    { Authorization: `Bearer ${key}` },
    'openai/gpt-4o-transcribe',
  ),
  peer: formTask(
    `${peer.url}/v1/audio/transcriptions`,
    {
      Authorization: 'Bearer bench',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${providerUrl}/v1`,
    },
    'gpt-4o-transcribe',
  ),
};
type Way = keyof typeof ways;

try {
  await warm();
  const uploads = await largeUploads();
  const paced = await inTurns((way) => ask(ways[way], PACED));
  const saturated = await inTurns((way) => ask(ways[way], SATURATED));
  report(paced, saturated, uploads);
} finally {
  gateway.send({ ask: 'stop' });
  peer.process.kill();
  simulator.process.kill();
  for (const child of [provider, load, relay]) child.disconnect();
}

/** What is compared is not the compiler's work. */
async function warm(): Promise<void> {
  for (const way of Object.keys(ways) as Way[])
    await ask(ways[way], { connections: 8, forMs: way === 'direct' ? 2_000 : 10_000 });
}

async function inTurns(measure: (way: Way) => Promise<LoadResult>): Promise<Record<Way, LoadResult[]>> {
  const results: Record<Way, LoadResult[]> = { direct: [], gateway: [], peer: [] };
  for (let round = 0; round < rounds; round++) {
    for (const way of Object.keys(ways) as Way[]) results[way].push(await measure(way));
  }
  return results;
}

/**
 * Four files of 100 MB at once: to the simulated provider, to it through a relay of bytes, through the gateway as they come, and
 * through it by way of the disk.
 */
async function largeUploads() {
  const headers = { Authorization: 'Token bench', 'Content-Type': 'audio/wav' };
  const whole = (url: string): Task => ({
    ...bodyTask(`${url}/v1/listen?model=nova-3`, headers),
    fileBytes: LARGE_BYTES,
  });
  const form = (fields: Record<string, string>): Task => ({ ...formOf(fields), fileBytes: LARGE_BYTES });
  const tasks = {
    direct: whole(simulator.url),
    relayed: whole(relayUrl),
    straight: form({ model: 'deepgram/nova-3' }),
    kept: form({ model: 'deepgram/nova-3', fallbacks: 'openai/gpt-4o-transcribe' }),
  };
  const ms: Record<keyof typeof tasks, number[]> = { direct: [], relayed: [], straight: [], kept: [] };
  const growthMib = { direct: 0, relayed: 0, straight: 0, kept: 0 };
  for (let round = 0; round < rounds; round++) {
    for (const way of Object.keys(tasks) as (keyof typeof tasks)[]) {
      const grown = await growth(async () => ms[way].push((await ask(tasks[way], { uploads: UPLOADS })).wholeMs));
      growthMib[way] = Math.max(growthMib[way], grown);
    }
  }
  return { growthMib, ms };
}

/** By how much the gateway's resident memory rose at its highest, as the system counts it, in MiB. */
async function growth(work: () => Promise<unknown>): Promise<number> {
  const directory = `/proc/${gateway.pid}`;
  const kibOf = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`${directory}/status`, 'utf8'))?.[1]);
  // Begins the high-water mark anew.
  writeFileSync(`${directory}/clear_refs`, '5');
  const before = kibOf('VmRSS');
  await work();
  return (kibOf('VmHWM') - before) / 1_024;
}

function report(
  paced: Record<Way, LoadResult[]>,
  saturated: Record<Way, LoadResult[]>,
  uploads: Awaited<ReturnType<typeof largeUploads>>,
): void {
  const at = (way: Way, share: number) =>
    percentile(
      paced[way].flatMap(({ ms }) => [...ms]),
      share,
    );
  const added = (way: Way) => ({
    p50: round(at(way, 0.5) - at('direct', 0.5)),
    p99: round(at(way, 0.99) - at('direct', 0.99)),
  });
  const rps = (way: Way) => Math.round(median(saturated[way].map(({ ms, wholeMs }) => (ms.length / wholeMs) * 1_000)));
  const ratio = (way: keyof typeof uploads.ms) => round(median(uploads.ms[way]) / median(uploads.ms.direct));
  const figures = {
    door,
    added_ms: added('gateway'),
    rps: rps('gateway'),
    peer: { name: PEER, added_ms: added('peer'), rps: rps('peer') },
    direct: { ms: { p50: round(at('direct', 0.5)), p99: round(at('direct', 0.99)) }, rps: rps('direct') },
    upload_growth_mib: round(uploads.growthMib.straight),
    upload_time_ratio: ratio('straight'),
    kept_upload_growth_mib: round(uploads.growthMib.kept),
    kept_upload_time_ratio: ratio('kept'),
    relay_upload_time_ratio: ratio('relayed'),
  };
  if (!isJsonOnly) {
    const line = (name: string, way: Way) =>
      console.log(
        `${name.padEnd(9)} p50 ${at(way, 0.5).toFixed(2)} ms, p99 ${at(way, 0.99).toFixed(2)} ms at ${PACED.perSecond} requests a second; ${rps(way)} a second at most`,
      );
    line('provider', 'direct');
    line('gateway', 'gateway');
    line('peer', 'peer');
    const size = `${UPLOADS} uploads of ${LARGE_BYTES / 1e6} MB`;
    const took = (way: keyof typeof uploads.ms) => `${median(uploads.ms[way]).toFixed(0)} ms`;
    console.log(
      `${size}: ${took('direct')} to the simulated provider, ${took('relayed')} through a relay of bytes, ${took('straight')} through the gateway, ${took('kept')} by way of its disk`,
    );
  }
  console.log(JSON.stringify(figures));
}

function formTask(url: string, headers: Record<string, string>, model: string): Task {
  return { ...form({ model }), url, headers: { ...headers, ...FORM_TYPE }, fileBytes: SMALL_BYTES };
}

function formOf(fields: Record<string, string>): Task {
  const url = `${gatewayUrl}/v1/audio/transcriptions`;
  return { ...form(fields), url, headers: { Authorization: `Bearer ${key}`, ...FORM_TYPE }, fileBytes: SMALL_BYTES };
}

function bodyTask(url: string, headers: Record<string, string>): Task {
  return { before: '', after: '', url, headers, fileBytes: SMALL_BYTES };
}

function form(fields: Record<string, string>): Pick<Task, 'before' | 'after'> {
  const disposition = (name: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`;
  const values = Object.entries(fields).map(([name, value]) => `${disposition(name)}\r\n\r\n${value}\r\n`);
  const file = `${disposition('file')}; filename="audio.wav"\r\nContent-Type: audio/wav\r\n\r\n`;
  return { before: values.join('') + file, after: `\r\n--${BOUNDARY}--\r\n` };
}

function start(file: URL, variables: Record<string, string> = {}, args: string[] = []): ChildProcess {
  return fork(file, args, {
    execArgv: ['--import', 'tsx', ...(process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean)],
    env: { ...process.env, ...variables },
    serialization: 'advanced',
  });
}

/** The provider's simulator as it is shipped: it takes the file apart, as the provider would. */
async function startSimulator(): Promise<{ url: string; process: ChildProcess }> {
  const args = ['bin/voxgate.js', 'simulate', 'deepgram', '--ear', 'script'];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => {
      const [found] = /http:\/\/[\w.:]+/.exec(text.toString()) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`The simulator ended with ${code}.`)));
  });
  return { url, process: child };
}

function ask(task: Task, how: LoadTask['load']): Promise<LoadResult> {
  load.send({ ...task, load: how });
  return message<LoadResult>(load);
}

function message<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const failed = (code: number | null) => reject(new Error(`A process of the bench ended with ${code}.`));
    child.once('exit', failed);
    child.once('message', (value) => {
      child.off('exit', failed);
      resolve(value as Message);
    });
  });
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
