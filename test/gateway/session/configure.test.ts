// What a client changes while its session goes on, through a whole gateway and by every shape of protocol: no sample is lost or told
// twice, and each is billed once.
import { describe, expect, it } from 'vitest';
import { interleavedNumbers, numbersOfChannel } from '../../fakes/audio/interleaved.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import type { LiveClient } from '../../fakes/processes/live-gateway.ts';
import { FULL, PROTOCOLS, rateOf } from '../../live/failover/protocols.ts';
import { gapsIn } from '../../simulation/whole.ts';
import { startDialectRig } from '../../vendors/compat/rig.ts';

const BROKEN = 'soniox';
const BROKEN_MODEL = PROTOCOLS.find(({ provider }) => provider === BROKEN)?.slug as string;
const PIECE = 2_401;

const rig = startDialectRig({ [BROKEN]: ['close-after=300ms'] });

async function opened(query: Record<string, string>): Promise<LiveClient> {
  const client = rig.gateway.connect(query);
  await client.event('session_started');
  return client;
}

function speak(client: LiveClient, from: number, to: number): void {
  for (let at = from; at < to; at += PIECE) client.send(numberedAudio(at, Math.min(to, at + PIECE)));
}

const costOf = (client: LiveClient) => client.of('session_ended')[0];

describe('a session is configured', () => {
  const pairs = FULL.map(({ slug }, at) => ({
    from: slug,
    to: (FULL[(at + 1) % FULL.length] as { slug: string }).slug,
  }))
    .filter(({ from, to }) => rateOf([from, to]) !== undefined)
    .filter(({ from, to }) => ![from, to].includes(BROKEN_MODEL));

  it.concurrent.each(pairs)('changes from $from to $to at the end of a turn', async ({ from, to }) => {
    const rate = rateOf([from, to]) as number;
    const samples = Math.round(3.9 * rate);
    const half = Math.round(1.9 * rate);
    const client = await opened({ model: from, sample_rate: String(rate) });
    speak(client, 0, half);
    client.send({ type: 'finalize' });
    await client.event('transcript', ({ is_final }) => is_final);
    client.send({ type: 'configure', model: to });
    speak(client, half, samples);
    client.send({ type: 'finalize' });
    const configured = await client.event('configured');
    client.send({ type: 'close' });
    expect(await client.close()).toMatchObject({ code: 1000 });
    expect(configured).toMatchObject({ model: to, fallbacks: [] });
    expect(gapsIn(client.finals, samples, rate, [from, to])).toEqual([]);
    expect(client.of('failover')).toEqual([]);
    const { audio_seconds = 0, usage = [] } = costOf(client) ?? {};
    expect(audio_seconds).toBeCloseTo(3.9, 3);
    expect(usage.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(audio_seconds, 2);
    expect(new Set(usage.map(({ model }) => model))).toEqual(new Set([from, to]));
  });

  it.concurrent('changes the keyterms of the same model and keeps its fallbacks', async () => {
    const [model = '', fallback = ''] = ['deepgram/nova-3', 'assemblyai/universal-streaming-english'];
    const client = await opened({ model, fallbacks: fallback });
    client.send({ type: 'configure', keyterms: ['Voxgate'], language: 'en' });
    expect(await client.event('configured')).toMatchObject({ model, fallbacks: [fallback], from: 0 });
    speak(client, 0, 16_000);
    client.send({ type: 'close' });
    await client.close();
    expect(gapsIn(client.finals, 16_000, 16_000, [model])).toEqual([]);
    expect(client.of('warning').map(({ code }) => code)).not.toContain('upstream_replaced');
  });

  it.concurrent('continues with the fallback when the new model fails', async () => {
    const [model = '', fallback = ''] = ['deepgram/nova-3', 'assemblyai/universal-streaming-english'];
    const rate = rateOf([model, BROKEN_MODEL, fallback]) as number;
    const client = await opened({ model, sample_rate: String(rate) });
    speak(client, 0, rate);
    client.send({ type: 'configure', model: BROKEN_MODEL, fallbacks: [fallback] });
    await client.event('configured');
    speak(client, rate, 3 * rate);
    await client.event('failover', ({ to }) => to === fallback);
    client.send({ type: 'close' });
    expect(await client.close()).toMatchObject({ code: 1000 });
    expect(gapsIn(client.finals, 3 * rate, rate, [model, BROKEN_MODEL, fallback])).toEqual([]);
    expect(client.of('failover').map(({ from, to }) => [from, to])).toEqual([[BROKEN_MODEL, fallback]]);
  });

  it.concurrent('replaces a model that fails before its turn ends', async () => {
    const fallback = 'assemblyai/universal-streaming-english';
    const rate = rateOf([BROKEN_MODEL, fallback]) as number;
    const client = await opened({ model: BROKEN_MODEL, sample_rate: String(rate) });
    speak(client, 0, Math.round(0.5 * rate));
    client.send({ type: 'configure', model: fallback });
    speak(client, Math.round(0.5 * rate), 2 * rate);
    await client.event('configured');
    client.send({ type: 'close' });
    expect(await client.close()).toMatchObject({ code: 1000 });
    expect(gapsIn(client.finals, 2 * rate, rate, [BROKEN_MODEL, fallback])).toEqual([]);
  });

  it.concurrent('changes both of its channels', async () => {
    const [model = '', other = ''] = ['deepgram/nova-3', 'assemblyai/universal-streaming-english'];
    const client = await opened({ model, channels: '2' });
    const bytes = interleavedNumbers(2, 32_000);
    client.send(bytes.subarray(0, 48_000));
    await client.event('transcript', ({ is_final }) => is_final);
    client.send({ type: 'configure', model: other });
    client.send(bytes.subarray(48_000));
    for (const channel of [0, 1]) await client.event('configured', (event) => event.channel === channel);
    client.send({ type: 'close' });
    expect(await client.close()).toMatchObject({ code: 1000 });
    for (const channel of [0, 1]) {
      const own = client.finals.filter((each) => each.channel === channel);
      const placed = own.map((each) => ({ ...each, text: numbersOfChannel(each.text, channel) }));
      expect(gapsIn(placed, 32_000, 16_000, [model, other])).toEqual([]);
    }
  });

  it.concurrent('applies the last of several changes, a second apart', async () => {
    const client = await opened({ model: 'deepgram/nova-3' });
    const [one, two, three] = ['soniox/stt-rt-v5', 'gladia/solaria-1', 'assemblyai/universal-streaming-english'];
    client.send({ type: 'configure', model: 'deepgram/nova-2' });
    for (const model of [one, two, three]) client.send({ type: 'configure', model });
    await client.event('configured', ({ model }) => model === three);
    expect(client.of('configured').map(({ model }) => model)).toEqual(['deepgram/nova-2', three]);
    speak(client, 0, 16_000);
    client.send({ type: 'close' });
    await client.close();
    expect(gapsIn(client.finals, 16_000, 16_000, [three])).toEqual([]);
  });

  it.concurrent('drops options of a model that was never reached, and rejects unchangeable ones', async () => {
    const [model, other] = ['deepgram/nova-3', 'assemblyai/universal-streaming-english'];
    const client = await opened({ model });
    client.send({ type: 'configure', keyterms: ['Voxgate'] });
    client.send({ type: 'configure', provider_params: { endpointing: 300 } });
    client.send({ type: 'configure', made_up: 1 });
    client.send({ type: 'configure', model: other });
    await client.event('configured', (event) => event.model === other);
    expect(client.of('error').map(({ error }) => error.param)).toEqual(['made_up']);
    client.send({ type: 'close' });
    expect(await client.close()).toMatchObject({ code: 1000 });
  });
});

describe('a session whose model stays is configured on its open connection, in the middle of a turn', () => {
  it.concurrent.each<[model: string, changes: object, keyterms?: string]>([
    ['deepgram/flux-general-en', { keyterms: ['Voxgate'], provider_params: { eot_threshold: 0.8 } }, '["gate"]'],
    ['assemblyai/universal-3-5-pro', { prompt: 'A call.', provider_params: { max_turn_silence: 1_500 } }],
    ['speechmatics/enhanced', { provider_params: { max_delay: 2 } }],
    ['openai/gpt-transcribe', { keyterms: ['Voxgate'] }],
    ['openai/whisper-1', { prompt: 'A call.' }],
  ])('%s', async (model, changes, keyterms) => {
    const rate = rateOf([model]) ?? 16_000;
    const samples = 3 * rate;
    const client = await opened({ model, sample_rate: String(rate), ...(keyterms && { keyterms }) });
    const part = Math.round(0.4 * rate);
    speak(client, 0, part);
    client.send({ type: 'configure', ...changes });
    const configured = await client.event('configured');
    speak(client, part, samples);
    client.send({ type: 'close' });
    expect(await client.close()).toMatchObject({ code: 1000 });
    expect(configured).toMatchObject({ model, replayed_seconds: 0, chain: [{ model }] });
    expect(configured.from).toBeLessThanOrEqual(0.4);
    expect(gapsIn(client.finals, samples, rate, [model])).toEqual([]);
    const { audio_seconds, usage = [] } = costOf(client) ?? {};
    expect(usage.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(audio_seconds ?? 0, 2);
    expect(client.of('warning').map(({ code }) => code)).not.toContain('upstream_replaced');
  });
});

it('makes a change to a dearer rate at the end of the turn, billed as begun', async () => {
  const client = await opened({ model: 'deepgram/flux-general-en' });
  speak(client, 0, 16_000);
  await client.event('transcript', ({ is_final }) => is_final);
  client.send({ type: 'configure', keyterms: ['Voxgate'] });
  speak(client, 16_000, 48_000);
  const { from } = await client.event('configured');
  client.send({ type: 'close' });
  expect(await client.close()).toMatchObject({ code: 1000 });
  expect(from).toBeGreaterThan(0.6);
  expect(gapsIn(client.finals, 48_000, 16_000, ['deepgram/flux-general-en'])).toEqual([]);
  expect(costOf(client)?.usage).toHaveLength(2);
});

describe('changes that are refused while the session continues unchanged', () => {
  it.concurrent.each<[object, string, string]>([
    [{ sample_rate: 8000 }, 'invalid_request', 'sample_rate'],
    [{ model: 'deepgram/nobody' }, 'model_not_found', 'model'],
    [{ model: null }, 'invalid_request', 'model'],
    [{ model: 7 }, 'model_not_found', 'model'],
    [{ language: 'no language' }, 'invalid_request', 'language'],
    [{ languages: ['no language'] }, 'invalid_request', 'languages'],
    [{ provider_params: { nothing: 1 } }, 'invalid_provider_params', 'provider_params.nothing'],
  ])('%j', async (changes, code, param) => {
    const client = await opened({ model: 'deepgram/nova-3' });
    client.send({ type: 'configure', ...changes });
    const { error } = await client.event('error');
    expect(error).toMatchObject({ code, param });
    speak(client, 0, 16_000);
    client.send({ type: 'close' });
    expect(await client.close()).toMatchObject({ code: 1000 });
    expect(client.of('configured')).toEqual([]);
    expect(gapsIn(client.finals, 16_000, 16_000, ['deepgram/nova-3'])).toEqual([]);
  });
});
