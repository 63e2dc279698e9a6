// `npm run bench -- batch [rounds] [--json]`: what the gateway adds to a file's way to its provider, how many requests a second it
// takes, and what large uploads cost it in memory and time. In every round the provider itself, a hop that only passes bytes on,
// another gateway and this one take turns; what is compared was measured in one round.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../bin/build.js';
import type { LoadResult, LoadTask } from './batch/load.ts';
import { PEER } from './batch/peer.ts';
import { cpuMsOf, message } from './batch/processes.ts';
import { startSetting } from './batch/setting.ts';
import { percentile, ratiosOf, type Spread, spreadOf, textOf } from './spread.ts';
import { bodyTask, formTask, LARGE_BYTES, type Task } from './batch/tasks.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const rounds = Number(process.argv.slice(2).find((argument) => /^\d+$/.test(argument)) ?? 3);
const isJsonOnly = process.argv.includes('--json');

const UPLOADS = 4;
const PACED = { perSecond: 50, forMs: 5_000 };
const SATURATED = { connections: 32, forMs: 4_000 };
/** What is compared is not the compiler's work. */
const WARM = { connections: 8, forMs: 1_000 };
const WARM_REQUESTS = 5_000;
const WARM_TURNS_MAX = 15;

await ensureBuilt(root);
const setting = await startSetting(root);
const { gateway, provider, simulator, relay, uploadRelay, peer, load, model } = setting;

const bench = { Authorization: 'Bearer bench' };
const own = (key: string) => ({ Authorization: `Bearer ${key}` });
const portkey = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${provider.url}/v1` };
/** `prepaid`: the gateway for an organisation whose credit has an end, which has to be held before the provider is asked. */
const ways = {
  direct: { process: provider, task: formTask(provider.url, bench, { model }) },
  relay: { process: relay, task: formTask(relay.url, bench, { model }) },
  gateway: { process: gateway, task: formTask(gateway.url, own(gateway.key), { model: `openai/${model}` }) },
  prepaid: { process: gateway, task: formTask(gateway.url, own(gateway.prepaidKey), { model: `openai/${model}` }) },
  peer: { process: peer, task: formTask(peer.url, { ...bench, ...portkey }, { model }) },
};
const largeForm = (fields: Record<string, string>) => formTask(gateway.url, own(gateway.key), fields, LARGE_BYTES);
/** Four files of 100 MB at once. `kept`: by way of the gateway's disk, since a fallback may need the file again. */
const uploads = {
  direct: bodyTask(simulator.url),
  relay: bodyTask(uploadRelay.url),
  straight: largeForm({ model: 'deepgram/nova-3' }),
  kept: largeForm({ model: 'deepgram/nova-3', fallbacks: `openai/${model}` }),
};
type Way = keyof typeof ways;
type Upload = keyof typeof uploads;
type Of<Name extends string, Figures> = Record<Name, Figures[]>;

/** One way in one round. */
interface Measured {
  p50Ms: number;
  p99Ms: number;
  perSecond: number;
  /** Of the process that is measured, for each request. */
  cpuMs: number;
  /** Shares of a core. */
  loadBusy: number;
  providerBusy: number;
}

try {
  const wayNames = Object.keys(ways) as Way[];
  for (const way of wayNames) await warm(ways[way].task);
  const paced = emptyOf<Way, Measured>(ways);
  const saturated = emptyOf<Way, Measured>(ways);
  const large = emptyOf<Upload, { ms: number; growthMib: number }>(uploads);
  for (let round = 0; round < rounds; round++) {
    for (const way of wayNames) paced[way].push(await measure(way, PACED));
    for (const way of wayNames) saturated[way].push(await measure(way, SATURATED));
    for (const name of Object.keys(uploads) as Upload[]) large[name].push(await upload(uploads[name]));
  }
  report(paced, saturated, large);
} finally {
  setting.close();
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
  const { process, task } = ways[way];
  const watched = [process, load, provider];
  const before = watched.map(cpuMsOf);
  const { ms, wholeMs } = await ask(task, how);
  const [cpuMs, loadMs, providerMs] = watched.map((child, index) => cpuMsOf(child) - (before[index] ?? 0)) as [
    number,
    number,
    number,
  ];
  return {
    p50Ms: percentile(ms, 0.5),
    p99Ms: percentile(ms, 0.99),
    perSecond: (ms.length / wholeMs) * 1_000,
    cpuMs: cpuMs / ms.length,
    loadBusy: loadMs / wholeMs,
    providerBusy: providerMs / wholeMs,
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
  const of = (measured: readonly Measured[], name: keyof Measured) => measured.map((each) => each[name]);
  const added = (way: Way) =>
    Object.fromEntries(
      (['p50', 'p99'] as const).map((share) => {
        const direct = of(paced.direct, `${share}Ms`);
        return [share, spreadOf(of(paced[way], `${share}Ms`).map((ms, round) => ms - (direct[round] ?? 0)))];
      }),
    ) as Record<'p50' | 'p99', Spread>;
  const uploadMs = (name: Upload) => large[name].map(({ ms }) => ms);
  const ratios = {
    saturation_vs_portkey: ratiosOf(of(saturated.gateway, 'perSecond'), of(saturated.peer, 'perSecond')),
    saturation_prepaid_vs_portkey: ratiosOf(of(saturated.prepaid, 'perSecond'), of(saturated.peer, 'perSecond')),
    cpu_vs_portkey: ratiosOf(of(saturated.gateway, 'cpuMs'), of(saturated.peer, 'cpuMs')),
    upload_time: ratiosOf(uploadMs('straight'), uploadMs('direct')),
    upload_time_kept: ratiosOf(uploadMs('kept'), uploadMs('direct')),
    upload_time_relay: ratiosOf(uploadMs('relay'), uploadMs('direct')),
  };
  const addedMs = Object.fromEntries(
    (['gateway', 'prepaid', 'peer', 'relay'] as const).map((way) => [way, added(way)]),
  ) as Record<'gateway' | 'prepaid' | 'peer' | 'relay', ReturnType<typeof added>>;
  const busy = (['loadBusy', 'providerBusy'] as const).map((name) =>
    Math.max(...Object.values(saturated).flatMap((each) => of(each, name))),
  );
  if (!isJsonOnly) tell(paced, saturated, ratios, addedMs);
  const middle = (each: Spread) => each.median;
  const figures = {
    ratios: Object.fromEntries(Object.entries(ratios).map(([name, each]) => [name, middle(each)])),
    added_ms: { p50: middle(addedMs.gateway.p50), p99: middle(addedMs.gateway.p99) },
    added_ms_of: addedMs,
    spread: ratios,
    per_second: Object.fromEntries(
      Object.entries(saturated).map(([way, each]) => [way, spreadOf(of(each, 'perSecond'))]),
    ),
    cpu_ms: Object.fromEntries(Object.entries(saturated).map(([way, each]) => [way, spreadOf(of(each, 'cpuMs'))])),
    /** The most of a core that they took in any round: below 1 they were not what was measured. */
    busy: { load: busy[0], provider: busy[1] },
    upload_growth_mib: spreadOf(large.straight.map(({ growthMib }) => growthMib)),
    kept_upload_growth_mib: spreadOf(large.kept.map(({ growthMib }) => growthMib)),
    ...{ rounds, peer: PEER, door: gateway.door, pinned: setting.isPinned },
  };
  console.log(JSON.stringify(figures));
}

function tell(
  paced: Of<Way, Measured>,
  saturated: Of<Way, Measured>,
  ratios: Readonly<Record<string, Spread>>,
  addedMs: Readonly<Record<string, Record<'p50' | 'p99', Spread>>>,
): void {
  console.log(
    `${rounds} rounds, medians [lowest..highest]; ${PACED.perSecond} requests a second, then as many as there can be`,
  );
  for (const way of Object.keys(saturated) as Way[]) {
    const figure = (measured: readonly Measured[], name: keyof Measured) =>
      textOf(spreadOf(measured.map((each) => each[name])));
    const row = [
      `p50 ${figure(paced[way], 'p50Ms')} ms, p99 ${figure(paced[way], 'p99Ms')} ms`,
      `${figure(saturated[way], 'perSecond')} a second at ${figure(saturated[way], 'cpuMs')} ms of CPU each`,
      `load ${figure(saturated[way], 'loadBusy')} and provider ${figure(saturated[way], 'providerBusy')} of a core`,
    ];
    console.log(`${way.padEnd(8)} ${row.join('; ')}`);
  }
  for (const [way, { p50, p99 }] of Object.entries(addedMs)) {
    console.log(`${way.padEnd(8)} adds p50 ${textOf(p50)} ms, p99 ${textOf(p99)} ms`);
  }
  for (const [name, ratio] of Object.entries(ratios)) console.log(`${name} ${textOf(ratio)}`);
}
