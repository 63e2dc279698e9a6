// A file that is larger than its model takes, at a whole gateway: all of it comes back, with one bill for its seconds.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobAnswer } from '../../../src/api/jobs.ts';
import type { VerboseTranscription } from '../../../src/api/transcriptions.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { longM4a } from '../../fakes/audio/long-m4a.ts';
import { measured } from '../../fakes/audio/measured.ts';
import { RATE, said, talk, talkingEar } from '../../fakes/audio/talking.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { answer, HttpProvider } from '../../live/upstream/http-batch-fixture.ts';

const WORDS = 2_200;
const MODEL = 'openai/whisper-1';
const FALLBACK = 'deepgram/nova-3';
/** 33 minutes, 32 MB. */
const audio = talk(WORDS, (word) => word % 10 === 9);

/** A word at which OpenAI's models fail. */
let deafTo: number | undefined;
beforeEach(() => {
  deafTo = undefined;
});
const servers: SimulatorServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

async function start(provider: string, ear = talkingEar()): Promise<string> {
  const simulator = simulators.find((each) => each.provider === provider);
  if (simulator === undefined) throw new Error(`There is no simulator of ${provider}.`);
  const server = await SimulatorServer.start({ simulator, ear, clock: systemClock });
  servers.push(server);
  return server.url;
}

const TALK = new Blob([audio.bytes], { type: `audio/l16;rate=${RATE}` });

async function send(live: LiveGateway, fields: Record<string, string>, file = TALK) {
  const form = new FormData();
  const all = { response_format: 'verbose_json', 'timestamp_granularities[]': 'word', speech_gate: 'off', ...fields };
  for (const [name, value] of Object.entries(all)) form.append(name, value);
  form.append('file', file, 'talk');
  const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  const answer = (await response.json()) as VerboseTranscription;
  const record = await live.request(`/v1/sessions/${answer.request_id}`);
  const { usage, audio_seconds: seconds, held_usd: held } = (await record.json()) as Record<string, unknown>;
  return { status: response.status, answer, usage, seconds, held };
}

describe('a file of 32 MB at a model that takes 25 MB', () => {
  let live: LiveGateway;
  beforeAll(async () => {
    live = await startLiveGateway({
      ...{
        VOXGATE_OPENAI_URL: await start(
          'openai',
          talkingEar(() => deafTo),
        ),
        OPENAI_API_KEY: 'key',
      },
      ...{ VOXGATE_DEEPGRAM_URL: await start('deepgram'), DEEPGRAM_API_KEY: 'key' },
    });
  });

  it('comes back whole, the part that failed from the fallback, with one bill', async () => {
    deafTo = 1_234;
    const { status, answer, usage, seconds, held } = await send(live, { model: MODEL, fallbacks: FALLBACK });
    expect([status, answer.text]).toEqual([200, said(WORDS).join(' ')]);
    expect(answer.words?.map(({ word }) => word)).toEqual(said(WORDS));
    for (const [index, { start: at }] of (answer.words ?? []).entries()) {
      expect(at).toBeCloseTo(audio.starts[index] as number, 1);
    }
    expect(answer.warnings?.map(({ code }) => code)).toEqual(['file_cut']);
    expect(answer).toMatchObject({
      model: MODEL,
      duration: audio.seconds,
      usage: { seconds: audio.seconds },
      fallback: [{ model: MODEL, reason: 'unsupported_audio' }],
    });
    const lines = usage as { model: string; seconds: number }[];
    expect(lines.map(({ model }) => model).sort()).toEqual([FALLBACK, MODEL]);
    expect(lines.reduce((sum, line) => sum + line.seconds, 0)).toBeCloseTo(audio.seconds, 3);
    expect([seconds, held]).toEqual([audio.seconds, '0.00']);
  });

  it.each([
    ['by its bytes, with the times of words', MODEL, ['file_cut']],
    ['by its length, as text alone', 'openai/gpt-4o-transcribe', ['words_unavailable', 'file_cut']],
  ])('comes back whole, and is charged for all of its seconds, where it is too much %s', async (_, model, warnings) => {
    const { status, answer, usage, seconds } = await send(live, { model });
    expect([status, answer.text]).toEqual([200, said(WORDS).join(' ')]);
    expect(answer.warnings?.map(({ code }) => code).sort()).toEqual([...warnings].sort());
    expect([seconds, usage]).toMatchObject([audio.seconds, [{ model, seconds: audio.seconds }]]);
  });

  it('is refused, and free, where a part has no model left', async () => {
    deafTo = 1_234;
    const before = await (await live.request('/v1/balance')).json();
    const { status, answer } = await send(live, { model: MODEL });
    expect([status, answer]).toMatchObject([400, { error: { code: 'unsupported_audio' } }]);
    expect(await (await live.request('/v1/balance')).json()).toEqual(before);
  });
});

describe('an M4A file of 27 MB, which the gateway does not decode', () => {
  it('is sent in M4A parts, with one bill', async () => {
    const { bytes, seconds } = await longM4a(27_000_000);
    const provider = await new HttpProvider((response, arrived) => {
      const from = arrived.body.indexOf('ftypM4A') - 4;
      const duration = measured(arrived.body.subarray(from, arrived.body.lastIndexOf('\r\n--')))?.seconds ?? 0;
      const segments = [{ id: 0, start: 5, end: duration - 5, text: 'some of it' }];
      answer({ task: 'transcribe', language: 'english', duration, text: 'some of it', segments })(response, arrived);
    }).listen();
    try {
      const live = await startLiveGateway({ VOXGATE_OPENAI_URL: provider.url, OPENAI_API_KEY: 'key' });
      const sent = await send(live, { model: MODEL, 'timestamp_granularities[]': 'segment' }, new Blob([bytes]));
      expect([sent.status, sent.answer.warnings?.map(({ code }) => code)]).toEqual([200, ['file_cut']]);
      expect(provider.arrived).toHaveLength(Math.ceil(seconds / 1_200));
      expect(provider.arrived.every(({ body }) => body.length < 26_214_400)).toBe(true);
      expect(sent.answer.segments).toHaveLength(provider.arrived.length);
      expect(sent.answer.segments?.at(-1)?.end).toBeCloseTo(seconds - 5, 0);
      expect([sent.answer.duration, sent.seconds]).toEqual([sent.answer.usage.seconds, sent.answer.usage.seconds]);
      expect(sent.answer.duration).toBeCloseTo(seconds, 1);
      expect(sent.usage).toMatchObject([{ model: MODEL, seconds: sent.answer.duration }]);
    } finally {
      await provider.close();
    }
  });
});

describe('a job of a file that is too large for its model', () => {
  it('shows how many of its parts are done, until it is over', async () => {
    const part = { task: 'transcribe', language: 'english', duration: 900, text: 'some of it', segments: [] };
    const held: (() => void)[] = [];
    let isHeld = true;
    const provider = await new HttpProvider((response, arrived) => {
      const reply = () => answer(part)(response, arrived);
      if (isHeld && provider.arrived.length > 1) held.push(reply);
      else reply();
    }).listen();
    try {
      const live = await startLiveGateway({ VOXGATE_OPENAI_URL: provider.url, OPENAI_API_KEY: 'key' });
      const body = new FormData();
      for (const [name, value] of Object.entries({ model: MODEL, speech_gate: 'off' })) body.append(name, value);
      body.append('file', TALK, 'talk');
      const accepted = (await (await live.request('/v1/jobs', { method: 'POST', body })).json()) as JobAnswer;
      const job = async () => (await (await live.request(`/v1/jobs/${accepted.id}`)).json()) as JobAnswer;
      await expect.poll(async () => (await job()).progress?.done, { timeout: 30_000 }).toBe(1);
      const { status, progress } = await job();
      expect([status, progress]).toEqual(['processing', { done: 1, parts: expect.toSatisfy((parts) => parts >= 2) }]);
      isHeld = false;
      for (const reply of held) reply();
      await expect.poll(async () => (await job()).status, { timeout: 30_000 }).toBe('completed');
      expect((await job()).progress).toBeUndefined();
    } finally {
      await provider.close();
    }
  });
});
