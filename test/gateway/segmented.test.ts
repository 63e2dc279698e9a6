// Models that hear files only, on `/v1/listen`: real speech through a whole gateway, to simulators that hear with the embedded
// recogniser.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLocalRecogniser } from '../../src/cli/shared/local-recogniser.ts';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';
import { SimulatorServer } from '../../src/vendors/simulation/server.ts';
import { simulators } from '../../src/vendors/simulators.ts';
import {
  type LiveClient,
  type LiveGateway,
  type Sample,
  sampleAudio,
  samples,
  startLiveGateway,
} from '../fakes/processes/live-gateway.ts';

const DIARIZE = 'openai/gpt-4o-transcribe-diarize';
const UNIVERSAL = 'assemblyai/universal-2';
const SPOKEN = [
  'turn on the kitchen lights',
  'set a timer for ten minutes',
  "what's the weather tomorrow",
  'play some jazz',
  'call mom',
];
const TIMES_SECONDS = 0.2;

const ears = openLocalRecogniser();
const servers: SimulatorServer[] = [];
let live: LiveGateway;

beforeAll(async () => {
  await ears.warmUp();
  const start = async (provider: string) => {
    const simulator = simulators.find((each) => each.provider === provider);
    if (simulator === undefined) throw new Error(`There is no simulator of ${provider}.`);
    const server = await SimulatorServer.start({ simulator, ear: ears.ear, clock: systemClock, faults: [] });
    servers.push(server);
    return server.url;
  };
  live = await startLiveGateway({
    VOXGATE_ASSEMBLYAI_URL: await start('assemblyai'),
    VOXGATE_OPENAI_URL: await start('openai'),
    ASSEMBLYAI_API_KEY: 'key',
    OPENAI_API_KEY: 'key',
  });
}, 60_000);

afterAll(async () => {
  for (const server of servers) await server.close();
  await ears.close();
});

/** A session of the file, as fast as the socket takes it. */
async function listen(file: string, query: Record<string, string>): Promise<{ client: LiveClient; code: number }> {
  const { pcm, sampleRate } = sampleAudio(file);
  const client = live.connect({ sample_rate: String(sampleRate), ...query });
  await client.event('session_started');
  for (let at = 0; at < pcm.length; at += 3_210) client.send(pcm.subarray(at, at + 3_210));
  client.send({ type: 'close' });
  const { code } = await client.close();
  return { client, code };
}

/** The words of a file with their times, as the embedded recogniser hears the whole of it. */
async function heardWhole(file: string) {
  const form = new FormData();
  form.set('model', 'local/commands-en');
  form.set('response_format', 'verbose_json');
  form.set('file', new Blob([sampleAudio(file).bytes]), file);
  const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  return (await response.json()) as { text: string; segments: { text: string; start: number; end: number }[] };
}

describe.each([DIARIZE, UNIVERSAL])('%s on /v1/listen', (model) => {
  it('gives one final for each utterance, with its words and its times, and every one before the close', async () => {
    const { client, code } = await listen('commands.wav', { model });
    const { segments } = await heardWhole('commands.wav');
    expect(code).toBe(1000);
    expect(client.finals.map(({ text, turn }) => ({ text, turn }))).toEqual(
      SPOKEN.map((text, turn) => ({ text, turn })),
    );
    for (const [index, { start, end }] of client.finals.entries()) {
      expect(Math.abs(start - (segments[index]?.start ?? 0))).toBeLessThanOrEqual(TIMES_SECONDS);
      expect(Math.abs(end - (segments[index]?.end ?? 0))).toBeLessThanOrEqual(TIMES_SECONDS);
    }
    expect(client.of('transcript').length).toBe(client.finals.length);
    expect(client.of('speech_started').length).toBe(SPOKEN.length);
  });

  it('says that it has no interim results, and bills the session once at the price of a file', async () => {
    const { client } = await listen('yes.wav', { model, interim_results: 'true' });
    expect(client.of('warning')).toMatchObject([{ code: 'interim_results_unsupported', param: 'interim_results' }]);
    const { data } = (await (await live.request('/v1/models?mode=live')).json()) as { data: Record<string, never>[] };
    const card = data.find(({ id }) => id === model) as unknown as {
      pricing: { batch: { amount: string }; live: { amount: string } };
      live_turns: string;
    };
    expect(card).toMatchObject({
      live_turns: 'gateway',
      modes: ['batch', 'live'],
      pricing: { live: card.pricing.batch },
    });
    const { seconds } = samples().find(({ file }) => file === 'yes.wav') as Sample;
    const ended = client.of('session_ended')[0];
    expect(ended?.usage).toMatchObject([{ model, seconds: expect.closeTo(seconds, 2), byok: false }]);
    expect(Number(ended?.cost_usd)).toBeCloseTo((seconds / 60) * Number(card.pricing.live.amount), 6);
  });

  it('ends an utterance when the client asks for it', async () => {
    const { pcm, sampleRate } = sampleAudio('yes.wav');
    const client = live.connect({ model, sample_rate: String(sampleRate) });
    await client.event('session_started');
    // Up to the end of the word: no silence would end the turn.
    client.send(pcm.subarray(0, 0.95 * sampleRate * 2));
    client.send({ type: 'finalize' });
    expect((await client.event('transcript')).text).toBe('yes');
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expect(client.finals.length).toBe(1);
  });

  it('transcribes nothing in silence, and ends in order', async () => {
    const { client, code } = await listen('lines/silence.wav', { model });
    expect(code).toBe(1000);
    expect(client.of('transcript')).toEqual([]);
    expect(client.of('discontinuity')).toEqual([]);
  });
});

it('word times of an utterance are on the clock of the session', async () => {
  const { client } = await listen('commands.wav', { model: UNIVERSAL });
  const words = client.finals.flatMap(({ words = [] }) => words);
  expect(words.map(({ word }) => word).join(' ')).toBe(SPOKEN.join(' '));
  for (const { start, end, words: own = [] } of client.finals) {
    expect(own.every((word) => word.start >= start && word.end <= end)).toBe(true);
  }
  expect(words.every(({ start }, index) => start >= (words[index - 1]?.end ?? 0) - 0.001)).toBe(true);
});

it('separates speakers within a turn only, and warns of it', async () => {
  const { client } = await listen('yes.wav', { model: DIARIZE, diarization: 'true', interim_results: 'false' });
  expect(client.of('warning').map(({ code }) => code)).toEqual(['speakers_per_turn']);
  expect(client.finals).toMatchObject([{ text: 'yes', speaker: 0 }]);
});

describe('provider_params of such a model', () => {
  const query = (params: object) => ({
    model: UNIVERSAL,
    provider_params: JSON.stringify(params),
    interim_results: 'false',
  });

  it('apply to its files', async () => {
    const { client } = await listen('yes.wav', query({ punctuate: false }));
    expect(client.of('warning')).toEqual([]);
  });

  it.each(['audio_start_from', 'min_turn_silence'])(
    'cause a warning where they mean nothing for an utterance: %s',
    async (name) => {
      const { client } = await listen('yes.wav', query({ [name]: 500 }));
      expect(client.of('warning')).toMatchObject([{ code: 'parameter_ignored', param: `provider_params.${name}` }]);
      expect(client.finals).toMatchObject([{ text: 'yes' }]);
    },
  );
});

it('sends the final of an utterance soon after it, also for a polled job', async () => {
  const { pcm, sampleRate } = sampleAudio('yes.wav');
  const client = live.connect({ model: UNIVERSAL, sample_rate: String(sampleRate) });
  await client.event('session_started');
  client.send(pcm);
  const sentAt = performance.now();
  await client.event('transcript');
  // One poll, half a second after the job was made, and what the recogniser takes.
  expect(performance.now() - sentAt).toBeLessThan(2_500);
  client.send({ type: 'close' });
  await client.close();
});
