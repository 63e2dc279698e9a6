// The providers through a whole gateway, with their simulators on real sockets: what a client sees of models, options,
// failovers and files.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';
import { numberedEar, scriptEar } from '../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../src/vendors/simulation/server.ts';
import { simulators } from '../../src/vendors/simulators.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { DRAWN, PROVIDERS, rateOf } from '../live/failover/protocols.ts';
import { gapsIn } from '../simulation/whole.ts';

const KEY = 'canary-4711-credential';
/** One of each provider: what they ask for by name is the suite's to prove. */
const FILE_MODELS = PROVIDERS.flatMap(({ models }) => models.find(({ modes }) => modes.includes('batch')) ?? []);

const servers = new Map<string, SimulatorServer>();
let live: LiveGateway;
/** A gateway whose Deepgram is broken for files and sessions alike. */
let limping: LiveGateway;

const turns = [{ text: 'what was said', seconds: 1 }];

beforeAll(async () => {
  const start = async (name: string, options: { ear?: 'script' | 'numbered'; faults?: string[] } = {}) => {
    const provider = name.split(' ')[0];
    const simulator = simulators.find((each) => each.provider === provider);
    if (simulator === undefined) throw new Error(`There is no simulator of ${provider}.`);
    const ear = options.ear === 'numbered' ? numberedEar({ turnSeconds: 0.7 }) : scriptEar({ turns });
    const server = await SimulatorServer.start({ simulator, ear, clock: systemClock, faults: options.faults ?? [] });
    servers.set(name, server);
    return server.url;
  };
  const environment = async (faulty: string[]) => {
    const settings: Record<string, string> = {};
    for (const { name } of PROVIDERS) {
      const faults = name === 'deepgram' ? { faults: faulty } : {};
      settings[`VOXGATE_${name.toUpperCase()}_URL`] = await start(`${name} ${faulty}`, { ear: 'numbered', ...faults });
      settings[`${name.toUpperCase()}_API_KEY`] = KEY;
    }
    return settings;
  };
  live = await startLiveGateway(await environment([]));
  limping = await startLiveGateway({ ...(await environment(['refuse=500'])), VOXGATE_BREAKER_FAILURES_MAX: '1000' });
});

afterAll(async () => {
  for (const server of servers.values()) await server.close();
});

/** A session of numbered audio, sent at once. */
async function listen(gateway: LiveGateway, query: Record<string, string>, seconds = 2.3) {
  const rate = rateOf([query.model ?? '']) ?? 24_000;
  const client = gateway.connect({ sample_rate: String(rate), ...query });
  await client.event('session_started');
  const samples = Math.round(seconds * rate);
  for (let at = 0; at < samples; at += 4_801) client.send(numberedAudio(at, Math.min(samples, at + 4_801)));
  client.send({ type: 'close' });
  const { code } = await client.close();
  return { client, code, samples, rate };
}

describe('a live session', () => {
  // Most of a session is waiting: for the pace of its provider, and for ends.
  it.concurrent.each(DRAWN.map(({ slug }) => slug))('transcribes every sample once with %s', async (model) => {
    const { client, code, samples, rate } = await listen(live, { model });
    expect(gapsIn(client.finals, samples, rate, [model])).toEqual([]);
    expect(code).toBe(1000);
    expect(client.of('session_ended')[0]?.usage).toMatchObject([{ model, seconds: 2.3, byok: false }]);
  });

  it('continues with the fallback when the requested model refuses, with one event', async () => {
    const fallbacks = 'assemblyai/universal-streaming-english,openai/gpt-4o-transcribe';
    const { client, code, samples } = await listen(limping, { model: 'deepgram/nova-3', fallbacks });
    expect(code).toBe(1000);
    expect(client.of('failover')).toMatchObject([
      { from: 'deepgram/nova-3', to: 'assemblyai/universal-streaming-english', reason: 'connect_failed' },
    ]);
    expect(gapsIn(client.finals, samples, 24_000, [])).toEqual([]);
  });
});

describe('provider_params', () => {
  const asked = (params: object, more: Record<string, string> = {}) => ({
    model: 'deepgram/flux-general-en',
    provider_params: JSON.stringify(params),
    ...more,
  });

  it.each([
    [{ no_such_option: 1 }, 'provider_params.no_such_option'],
    [{ eot_threshold: 7 }, 'provider_params.eot_threshold'],
    [{ eot_threshold: 'high' }, 'provider_params.eot_threshold'],
  ])('%j is refused, naming the member', async (params, param) => {
    const client = live.connect(asked(params));
    const { status, body } = await client.refused();
    expect([status, JSON.parse(body).error]).toMatchObject([400, { code: 'invalid_provider_params', param }]);
  });

  it('causes a warning, and a working session, for options that the model cannot honour', async () => {
    const client = live.connect(asked({ endpointing: 300 }));
    expect((await client.event('warning')).code).toBe('parameter_ignored');
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expect(client.of('warning')).toMatchObject([{ param: 'provider_params.endpointing' }]);
  });

  it('fails in strict mode for options that the model cannot honour', async () => {
    const { status, body } = await live.connect(asked({ endpointing: 300 }, { strict: 'true' })).refused();
    expect([status, JSON.parse(body).error]).toMatchObject([
      422,
      { code: 'unsupported_parameter', param: 'provider_params.endpointing' },
    ]);
  });
});

describe('a file', () => {
  const { bytes } = sampleAudio('commands.wav');
  const send = (gateway: LiveGateway, fields: Record<string, string>, file: Uint8Array<ArrayBuffer> = bytes) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    form.set('file', new Blob([file]), 'commands.wav');
    return gateway.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  };

  it.concurrent.each(FILE_MODELS.map(({ id }) => id))('gets a transcript from %s', async (model) => {
    const response = await send(live, { model, response_format: 'verbose_json' });
    const transcript = (await response.json()) as { text: string; model: string; duration: number };
    expect([response.status, transcript.model]).toEqual([200, model]);
    expect(transcript.text).toMatch(/^\d+-\d+/);
    expect(transcript.duration).toBeCloseTo(sampleAudio('commands.wav').pcm.byteLength / 2 / 16_000, 1);
  });

  it('gets a transcript from the fallback, which names the failure before', async () => {
    const response = await send(limping, {
      model: 'deepgram/nova-3',
      fallbacks: 'openai/whisper-1',
      response_format: 'verbose_json',
    });
    expect(await response.json()).toMatchObject({
      model: 'openai/whisper-1',
      fallback: [
        { model: 'deepgram/nova-3', reason: 'connect_failed' },
        { model: 'deepgram/nova-3', reason: 'connect_failed' },
      ],
    });
  });

  it('fails with every attempt listed when every model refuses it', async () => {
    const response = await send(limping, { model: 'deepgram/nova-3' });
    const { error } = (await response.json()) as { error: { code: string; details: unknown[] } };
    expect([response.status, error.code, error.details.length]).toEqual([502, 'upstream_exhausted', 2]);
  });
});

it('GET /v1/models shows what the key makes available, with schemas, prices and how each model is doing', async () => {
  const { data } = (await (await live.request('/v1/models')).json()) as { data: Record<string, never>[] };
  const nova = data.find(({ id }) => id === 'deepgram/nova-3');
  expect(nova).toMatchObject({ available: true, status: 'up', owned_by: 'deepgram', modes: ['batch', 'live'] });
  expect(nova?.provider_params).toMatchObject({ properties: { keyterm: { type: 'array' } } });
  const { data: limped } = (await (await limping.request('/v1/models')).json()) as { data: Record<string, never>[] };
  expect(limped.find(({ id }) => id === 'deepgram/nova-3')).toMatchObject({ status: 'degraded' });
});

it('keeps provider credentials out of logs and events', () => {
  for (const gateway of [live, limping]) expect(gateway.log.join('')).not.toContain(KEY);
});
