// A file that is larger than its model takes, at a whole gateway: all of it comes back, with one bill for its seconds.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { VerboseTranscription } from '../../../src/api/transcriptions.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { RATE, said, talk, talkingEar } from '../../fakes/audio/talking.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

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

async function send(live: LiveGateway, fields: Record<string, string>) {
  const form = new FormData();
  const all = { response_format: 'verbose_json', 'timestamp_granularities[]': 'word', speech_gate: 'off', ...fields };
  for (const [name, value] of Object.entries(all)) form.append(name, value);
  form.append('file', new Blob([audio.bytes], { type: `audio/l16;rate=${RATE}` }), 'talk.raw');
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
