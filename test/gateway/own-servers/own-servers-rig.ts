// A whole gateway with models on servers of the operator's own: simulators of each shape stand for them on real sockets, and for the
// cloud that they fall back to; any of them can be taken away in the middle of a session.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Mode } from '../../../src/api/models.ts';
import { modelOf } from '../../../src/api/slug.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { cardLike, SHAPES, type Shape } from '../../../src/vendors/custom/shapes.ts';
import { numberedEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { gapsIn } from '../../simulation/whole.ts';

export const CANARY = 'canary-own-server-4711';
export const CLOUD = 'assemblyai/universal-streaming-english';
/** Most models here take it; no sample is made into another. */
const USUAL_RATE = 24_000;
const SECONDS = 2.3;

/** Of each shape a model as the shape has it; and one that takes files alone, where it does. */
export const FILE_SHAPES = Object.keys(SHAPES).filter((shape) => SHAPES[shape]?.provider.batch?.kind === 'http');
export const MODELS = [
  ...Object.keys(SHAPES).map((shape) => `custom/${shape}`),
  ...FILE_SHAPES.map((shape) => `custom/${shape}-files`),
];

/** By the model's slug, or CLOUD. */
const servers = new Map<string, SimulatorServer>();
const rates = new Map<string, number>();

async function start(slug: string, provider: string, port = 0): Promise<string> {
  const simulator = simulators.find((each) => each.provider === provider);
  if (simulator === undefined) throw new Error(`There is no simulator of ${provider}.`);
  const ear = numberedEar({ turnSeconds: 0.7 });
  const server = await SimulatorServer.start({ simulator, ear, clock: systemClock, port });
  servers.set(slug, server);
  return server.url;
}

const providerOfServer = (slug: string): string =>
  slug === CLOUD ? 'assemblyai' : (SHAPES[modelOf(slug).replace('-files', '')]?.provider.name as string);

/** Simulators know their vendor's names for models alone. */
async function entryOf(slug: string) {
  const shape = modelOf(slug).replace('-files', '');
  const known = SHAPES[shape] as Shape;
  const card = cardLike(known, known.like);
  const prices = { batch: '0.002', ...(slug.endsWith('-files') ? {} : { live: 'free' }) };
  const own = Object.entries(prices).filter(([mode]) => card?.modes.includes(mode as Mode));
  const taken = card?.audio.sample_rates ?? [];
  const rate = slug.endsWith('-files') || taken.includes(USUAL_RATE) ? USUAL_RATE : (taken.at(-1) as number);
  rates.set(slug, rate);
  const model = { name: modelOf(slug), model: known.like, sampleRates: [rate], ...Object.fromEntries(own) };
  return { shape, url: await start(slug, known.provider.name), apiKeyVariable: 'OUR_KEY', models: [model] };
}

/** Their servers are closed after the tests of the file. */
export async function startWithOwnServers(models: readonly string[] = MODELS): Promise<LiveGateway> {
  const file = join(temporaryDirectory(), 'voxgate.json');
  writeFileSync(file, JSON.stringify({ custom: await Promise.all(models.map(entryOf)) }));
  return startLiveGateway({
    ...{ VOXGATE_CONFIG: file, OUR_KEY: CANARY, VOXGATE_BREAKER_FAILURES_MAX: '1000' },
    ...{ VOXGATE_ASSEMBLYAI_URL: await start(CLOUD, 'assemblyai'), ASSEMBLYAI_API_KEY: 'key' },
  });
}

afterAll(async () => {
  for (const server of servers.values()) await server.close();
});

/** Takes the server of a model away; what is returned brings it back. */
async function takeAway(slug: string): Promise<() => Promise<string>> {
  const server = servers.get(slug) as SimulatorServer;
  const { port } = server;
  await server.close();
  return () => start(slug, providerOfServer(slug), port);
}

/** @param lost whose server is taken away behind the first final */
export async function listen(live: LiveGateway, chain: readonly string[], lost?: string) {
  const [model = '', fallbacks = ''] = chain;
  const rate = chain.map((slug) => rates.get(slug)).find((known) => known !== undefined) ?? USUAL_RATE;
  const client = live.connect({ sample_rate: String(rate), model, ...(fallbacks === '' ? {} : { fallbacks }) });
  const samples = Math.round(SECONDS * rate);
  const send = (from: number, to: number) => {
    for (let at = from; at < to; at += 4_801) client.send(numberedAudio(at, Math.min(to, at + 4_801)));
  };
  await client.event('session_started');
  send(0, rate);
  let bringBack = async () => '';
  if (lost !== undefined) {
    client.send({ type: 'finalize' });
    await client.event('transcript', ({ is_final }) => is_final);
    bringBack = await takeAway(lost);
  }
  send(rate, samples);
  client.send({ type: 'close' });
  const { code } = await client.close();
  await bringBack();
  const failovers = client.of('failover').map(({ from, to }) => [from, to]);
  const [{ usage = [] } = {}] = client.of('session_ended');
  return { code, failovers, usage, gaps: gapsIn(client.finals, samples, rate, []) };
}
