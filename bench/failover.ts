// `npm run bench -- failover [--sessions 200] [--alone 5] [--stopped 40] [--json]`: live sessions stream in real time to one provider,
// which is then lost: with every socket and its port at a stroke, for one session alone, so many times, and for all at the same instant;
// and in silence, with its process stopped. Says how long they were without one.
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../bin/build.js';
import { assemblyai } from '../src/vendors/assemblyai/index.ts';
import { difference, nowMs, percentiles } from './failover/figures.ts';
import type { LoadOptions, LoadOrder, LoadReport, LoadResult } from './failover/load.ts';
import type { ProviderOrder, ProviderReport } from './failover/provider.ts';
import { type GatewayProgram, startGatewayProgram } from './gateway-program.ts';

type Loss = 'cut' | 'stopped';

/** The second is ready as soon as it is connected. Both take either rate. */
const FIRST = { provider: 'assemblyai', model: 'universal-streaming-english' };
const SECOND = { provider: 'deepgram', model: 'nova-3' };
const RATE = 16_000;
/** At this rate the ramps of numbered audio are steep enough to be taken for speech: only then is silence a stall. */
const RATE_OF_SPEECH = 48_000;
const SESSIONS_MAX = 1_000;
/** Connections to one model that the gateway makes at a time. */
const DIALS = 50;
const BEFORE_MS = 3_000;
const AFTER_MS = 3_000;
/** No step of a run takes so long. */
const STEP_MS_MAX = 120_000;

const { values: options } = parseArgs({
  args: process.argv.slice(2),
  options: {
    sessions: { type: 'string', default: '200' },
    alone: { type: 'string', default: '5' },
    /** A stopped process keeps every session for its stall limit: fewer say as much. */
    stopped: { type: 'string', default: '40' },
    json: { type: 'boolean', default: false },
  },
});
const sessions = Math.min(SESSIONS_MAX, Number(options.sessions));
await ensureBuilt(fileURLToPath(new URL('../', import.meta.url)));
const alone: Measured[] = [];
for (let round = 0; round < Number(options.alone); round++) alone.push(await run(1, 'cut'));
const together = await run(sessions, 'cut');
const stopped = Math.min(sessions, Number(options.stopped));
const figures = {
  alone: alone.length === 0 ? undefined : figuresOf(joined(alone)),
  together: figuresOf(together),
  silent_stall: stopped === 0 ? undefined : figuresOf(await run(stopped, 'stopped')),
};
const beyondConnect = {
  alone: figures.alone?.first_audio_beyond_connect_ms,
  together: figures.together.first_audio_beyond_connect_ms,
};
if (!options.json) console.log(JSON.stringify(figures, null, 2));
console.log(
  JSON.stringify({
    first_audio_beyond_connect_ms: beyondConnect,
    sessions,
    from: slugOf(FIRST),
    to: slugOf(SECOND),
    ...figures,
  }),
);

/** One gateway, two simulated providers and the clients, each in a process of its own. */
async function run(count: number, loss: Loss): Promise<Measured> {
  const children: ChildProcess[] = [];
  let gateway: GatewayProgram | undefined;
  const started = <Child extends ChildProcess>(child: Child): Child => {
    children.push(child);
    return child;
  };
  try {
    const first = started(startChild('./failover/provider.ts', FIRST.provider));
    const second = started(startChild('./failover/provider.ts', SECOND.provider));
    const urls = { first: (await reportOf(first, 'url')).url, second: (await reportOf(second, 'url')).url };
    gateway = await startGateway(urls);
    const { url, key } = gateway;
    const asked: LoadOptions = {
      url,
      key,
      sessions: count,
      sampleRate: loss === 'cut' ? RATE : RATE_OF_SPEECH,
      model: slugOf(FIRST),
      fallback: slugOf(SECOND),
      probeUrl: `${urls.second.replace('http', 'ws')}/v1/listen?model=${SECOND.model}&encoding=linear16&sample_rate=${RATE}`,
      dials: DIALS,
    };
    const load = started(startChild('./failover/load.ts', JSON.stringify(asked)));
    await messageOf<LoadReport>(load, (report) => report === 'open');
    await delay(BEFORE_MS);
    const connects = await ask(load, 'probe', 'connectMs');
    const switched = loadReportOf(load, 'failoverAtMs');
    const lostAtMs = await lose(first, loss);
    const { failoverAtMs } = await switched;
    await delay(AFTER_MS);
    second.send('tell' satisfies ProviderOrder);
    const { firstAudioAtMs } = await reportOf(second, 'firstAudioAtMs');
    const result = await ask(load, 'stop', 'whole');
    const sinceLoss = (times: readonly number[]) => times.map((at) => at - lostAtMs);
    return {
      ...{ count, loss, connects, result },
      ...{ failoverMs: sinceLoss(failoverAtMs), firstAudioMs: sinceLoss(firstAudioAtMs) },
    };
  } finally {
    await Promise.all(children.map(kill));
    await gateway?.stop();
  }
}

/** A stopped process hears of no other signal. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

/** Gives when it was lost. */
async function lose(provider: ChildProcess, loss: Loss): Promise<number> {
  if (loss === 'cut') {
    provider.send('cut' satisfies ProviderOrder);
    return (await reportOf(provider, 'cutAtMs')).cutAtMs;
  }
  const stoppedAtMs = nowMs();
  provider.kill('SIGSTOP');
  return stoppedAtMs;
}

interface Measured {
  count: number;
  loss: Loss;
  connects: { connectMs: number[]; sinceFirstMs: number[] };
  /** Both from the loss. */
  failoverMs: number[];
  firstAudioMs: number[];
  result: LoadResult;
}

/** Several runs as one. */
function joined(runs: readonly Measured[]): Measured {
  const sum = (of: (run: Measured) => number) => runs.reduce((all, each) => all + of(each), 0);
  return {
    count: sum(({ count }) => count),
    loss: 'cut',
    connects: {
      connectMs: runs.flatMap(({ connects }) => connects.connectMs),
      sinceFirstMs: runs.flatMap(({ connects }) => connects.sinceFirstMs),
    },
    failoverMs: runs.flatMap(({ failoverMs }) => failoverMs),
    firstAudioMs: runs.flatMap(({ firstAudioMs }) => firstAudioMs),
    result: {
      failovers: sum(({ result }) => result.failovers),
      closedInOrder: sum(({ result }) => result.closedInOrder),
      whole: sum(({ result }) => result.whole),
      problems: runs.flatMap(({ result }) => result.problems),
    },
  };
}

/** Milliseconds; differences in percentiles. */
function figuresOf({ count, loss, connects, failoverMs, firstAudioMs, result }: Measured) {
  const audio = percentiles(firstAudioMs);
  const connect = percentiles(connects.connectMs);
  const limit = { p50: stallLimitMs(), p99: stallLimitMs(), max: stallLimitMs() };
  return {
    sessions: count,
    ...result,
    switched: firstAudioMs.length,
    first_audio_ms: audio,
    failover_event_ms: percentiles(failoverMs),
    connect_ms: connect,
    connect_all_ms: percentiles(connects.sinceFirstMs),
    first_audio_beyond_connect_ms: loss === 'cut' ? difference(audio, connect) : undefined,
    ...(loss === 'cut' ? {} : { stall_limit_ms: limit.p50, first_audio_beyond_limit_ms: difference(audio, limit) }),
  };
}

function slugOf({ provider, model }: { provider: string; model: string }): string {
  return `${provider}/${model}`;
}

function stallLimitMs(): number {
  const request = {
    ...{ model: FIRST.model, sampleRate: RATE, language: undefined, interimResults: true, diarization: false },
    ...{ params: {}, access: { baseUrl: undefined, credential: undefined } },
  };
  return assemblyai.live?.(request.model).timing(request).stallMs ?? Number.NaN;
}

function startChild(file: string, argument: string): ChildProcess {
  return fork(new URL(file, import.meta.url), [argument], { execArgv: ['--import', 'tsx'] });
}

function startGateway(urls: { first: string; second: string }): Promise<GatewayProgram> {
  return startGatewayProgram({
    VOXGATE_LAG_MS_MAX: '60000',
    VOXGATE_DIALS_PER_MODEL_MAX: String(DIALS),
    [`VOXGATE_${FIRST.provider.toUpperCase()}_URL`]: urls.first,
    [`${FIRST.provider.toUpperCase()}_API_KEY`]: 'simulated',
    [`VOXGATE_${SECOND.provider.toUpperCase()}_URL`]: urls.second,
    [`${SECOND.provider.toUpperCase()}_API_KEY`]: 'simulated',
  });
}

/** The first message of a child that is the one wanted. */
function messageOf<Report>(child: ChildProcess, isWanted: (report: Report) => boolean): Promise<Report> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail('said nothing in time'), STEP_MS_MAX);
    const hear = (report: Report): void => {
      if (!isWanted(report)) return;
      stop();
      resolve(report);
    };
    const fail = (why: string): void => {
      stop();
      reject(new Error(`A process of the bench ${why}.`));
    };
    const gone = (): void => fail('ended');
    const stop = (): void => {
      clearTimeout(timer);
      child.off('message', hear).off('exit', gone);
    };
    child.on('message', hear).on('exit', gone);
  });
}

type With<Report, Name> = Report extends unknown ? (Name extends keyof Report ? Report : never) : never;

function has(report: unknown, name: string): boolean {
  return typeof report === 'object' && report !== null && name in report;
}

/** The provider's report with this member. */
async function reportOf<Name extends 'url' | 'cutAtMs' | 'firstAudioAtMs'>(child: ChildProcess, name: Name) {
  return (await messageOf<ProviderReport>(child, (report) => has(report, name))) as With<ProviderReport, Name>;
}

async function loadReportOf<Name extends 'connectMs' | 'failoverAtMs' | 'whole'>(child: ChildProcess, name: Name) {
  return (await messageOf<LoadReport>(child, (report) => has(report, name))) as With<Exclude<LoadReport, string>, Name>;
}

function ask<Name extends 'connectMs' | 'whole'>(load: ChildProcess, order: LoadOrder, name: Name) {
  load.send(order);
  return loadReportOf(load, name);
}
