// `npm run bench -- batch [--rounds 5] [--seconds 10] [--peers portkey,litellm] [--json]`: how long a file takes to its provider and back,
// how many requests a second a process serves, and what large uploads cost in memory and time. In every round the provider itself, a hop
// that only forwards bytes, other gateways and this one take turns. Figures are compared within one round.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../bin/build.js';
import { type Measured, type Of, uploadsOf, waysOf } from './batch/figures.ts';
import type { LoadResult, LoadTask } from './batch/load.ts';
import { PEERS, type PeerName } from './batch/peers.ts';
import { message } from './batch/processes.ts';
import { startSetting } from './batch/setting.ts';
import { bodyTask, formTask, LARGE_BYTES, type Task } from './batch/tasks.ts';
import { cpuMsOf, machineBusyMs, residentMbOf } from './processes.ts';
import { percentile, textOf } from './spread.ts';

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    peers: { type: 'string', default: Object.keys(PEERS).join(',') },
    json: { type: 'boolean', default: false },
  },
});
const root = fileURLToPath(new URL('../', import.meta.url));
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)];

const UPLOADS = 4;
const PACED = { perSecond: 50, forMs: seconds * 1_000 };
const SATURATED = { connections: 32, forMs: seconds * 400 };
/** What is compared is not the compiler's work. */
const WARM = { connections: 8, forMs: 1_000 };
const WARM_REQUESTS = 5_000;
const WARM_TURNS_MAX = Math.min(15, seconds * 2);

await ensureBuilt(root);
const setting = await startSetting(root, options.peers.split(',').filter(Boolean) as PeerName[]);
const { gateway, provider, simulator, relay, uploadRelay, load, model } = setting;

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
interface WayThrough {
  pid: number;
  task: Task;
}
/** `prepaid`: the gateway for an organisation with limited credit, which has to be held before the request to the provider. */
const ways: Readonly<Record<string, WayThrough>> = {
  direct: { pid: provider.pid, task: formTask(provider.url, bearer('bench'), { model }) },
  relay: { pid: relay.pid, task: formTask(relay.url, bearer('bench'), { model }) },
  gateway: { pid: gateway.pid, task: formTask(gateway.url, bearer(gateway.key), { model: `openai/${model}` }) },
  prepaid: { pid: gateway.pid, task: formTask(gateway.url, bearer(gateway.prepaidKey), { model: `openai/${model}` }) },
  ...Object.fromEntries(
    Object.entries(setting.peers).map(([name, { url, pid, headers }]) => [
      name,
      { pid, task: formTask(url, { ...bearer('bench'), ...headers }, { model }) },
    ]),
  ),
};
const largeForm = (fields: Record<string, string>) => formTask(gateway.url, bearer(gateway.key), fields, LARGE_BYTES);
/** Four files of 100 MB at once. `kept`: by way of the gateway's disk, since a fallback may need the file again. */
const uploads = {
  direct: bodyTask(simulator.url),
  relay: bodyTask(uploadRelay.url),
  straight: largeForm({ model: 'deepgram/nova-3' }),
  kept: largeForm({ model: 'deepgram/nova-3', fallbacks: `openai/${model}` }),
};
type Way = string;
type Upload = keyof typeof uploads;

try {
  const wayNames = Object.keys(ways);
  for (const { task } of Object.values(ways)) await warm(task);
  const paced = emptyOf<Way, Measured>(ways);
  const saturated = emptyOf<Way, Measured>(ways);
  const large = emptyOf<Upload, { ms: number; growthMib: number }>(uploads);
  for (let round = 0; round < rounds; round++) {
    // The first of a process works on what the uploads left behind.
    const order = round % 2 === 0 ? wayNames : wayNames.toReversed();
    for (const way of order) paced[way]?.push(await measure(way, PACED));
    for (const way of order) saturated[way]?.push(await measure(way, SATURATED));
    for (const name of Object.keys(uploads) as Upload[]) large[name].push(await upload(uploads[name]));
  }
  report(paced, saturated, large);
} finally {
  await setting.close();
}

function emptyOf<Name extends string, Figures>(names: Record<Name, unknown>): Of<Name, Figures> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, []])) as unknown as Of<Name, Figures>;
}

async function warm(task: Task): Promise<void> {
  let requests = 0;
  for (let turn = 0; turn < WARM_TURNS_MAX && requests < WARM_REQUESTS; turn++) {
    requests += (await ask(task, WARM)).ms.length;
  }
}

async function measure(way: Way, how: LoadTask['load']): Promise<Measured> {
  const { pid, task } = ways[way] as WayThrough;
  const timesOf = () => ({
    ...{ measured: cpuMsOf(pid), load: cpuMsOf(load.pid), provider: cpuMsOf(provider.pid), machine: machineBusyMs() },
  });
  const before = timesOf();
  const { ms, wholeMs } = await ask(task, how);
  const after = timesOf();
  const busy = (of: keyof typeof before) => (after[of] - before[of]) / wholeMs;
  // Without a gateway, it is the provider that is measured.
  const ours = busy('load') + busy('provider') + (pid === provider.pid ? 0 : busy('measured'));
  return {
    p50Ms: percentile(ms, 0.5),
    p99Ms: percentile(ms, 0.99),
    perSecond: (ms.length / wholeMs) * 1_000,
    cpuMs: (after.measured - before.measured) / ms.length,
    residentMb: residentMbOf(pid),
    loadBusy: busy('load'),
    providerBusy: busy('provider'),
    othersBusy: Math.max(0, busy('machine') - ours),
  };
}

/** How long it took, and by how much the gateway's resident memory rose at its highest, as the system counts it. */
async function upload(task: Task): Promise<{ ms: number; growthMib: number }> {
  const directory = `/proc/${gateway.pid}`;
  const kibOf = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`${directory}/status`, 'utf8'))?.[1]);
  // Begins the high-water mark anew.
  writeFileSync(`${directory}/clear_refs`, '5');
  const before = kibOf('VmRSS');
  const { wholeMs: ms } = await ask(task, { uploads: UPLOADS });
  return { ms, growthMib: (kibOf('VmHWM') - before) / 1_024 };
}

function ask(task: Task, how: LoadTask['load']): Promise<LoadResult> {
  load.send({ ...task, load: how });
  return message<LoadResult>(load);
}

function report(
  paced: Of<Way, Measured>,
  saturated: Of<Way, Measured>,
  large: Of<Upload, { ms: number; growthMib: number }>,
): void {
  const peers = Object.keys(setting.peers);
  const [requests, files] = [waysOf(paced, saturated, peers), uploadsOf(large)];
  if (!options.json) {
    console.log(`${rounds} rounds, medians [lowest..highest]`);
    console.log(
      `${PACED.perSecond} requests a second for the percentiles, as many as there can be for the other figures`,
    );
    for (const [name, row] of [...Object.entries(requests), ...Object.entries(files)]) {
      const texts = Object.entries(row).map(([figure, of]) => `${figure} ${textOf(of)}`);
      console.log(`${name.padEnd(9)} ${texts.join('; ')}`);
    }
  }
  const { adapter, isPinned: pinned } = setting;
  console.log(JSON.stringify({ rounds, seconds, peers: PEERS, adapter, pinned, requests, uploads: files }));
}
