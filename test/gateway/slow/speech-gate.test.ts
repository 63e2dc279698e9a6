// A whole gateway with a provider that invents text for noise, as Whisper does: marked, dropped or passed in files of every format, while speech
// stays as it is and the bill the same.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wavHeader } from '../../../src/audio/containers/wav.ts';
import { openLocalRecogniser } from '../../../src/cli/shared/local-recogniser.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { seeded } from '../../fakes/random.ts';

const MODEL = 'groq/whisper-large-v3-turbo';
const INVENTED = /Thank|Subtitles/;
const RATE = 16_000;
const READING = readFileSync(new URL('../../fixtures/audio/reading.wav', import.meta.url));

let live: LiveGateway;
let server: SimulatorServer;
const recogniser = openLocalRecogniser({}, 'dictation');

beforeAll(async () => {
  const simulator = simulators.find(({ provider }) => provider === 'groq');
  if (simulator === undefined) throw new Error('There is no simulator of groq.');
  const { ear } = recogniser;
  server = await SimulatorServer.start({ simulator, ear, clock: systemClock, faults: ['invented-text'] });
  live = await startLiveGateway({
    VOXGATE_GROQ_URL: server.url,
    GROQ_API_KEY: 'simulated',
  });
});

afterAll(async () => {
  await server.close();
  await recogniser.close();
});

function noise(seconds: number): Uint8Array {
  const random = seeded(7);
  const samples = Int16Array.from({ length: seconds * RATE }, () => random.integer(-2_000, 2_000));
  return new Uint8Array(samples.buffer);
}

const wavOf = (...parts: Uint8Array[]): Buffer => {
  const samples = Buffer.concat(parts);
  return Buffer.concat([wavHeader(RATE, samples.length), samples]);
};
const NOISE = wavOf(noise(8));
const SPEECH = READING.subarray(44);

async function post(file: Uint8Array, fields: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: MODEL, ...fields })) form.set(name, value);
  form.set('file', new Blob([file]), 'audio.wav');
  const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  const text = await response.text();
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, '']);
  return { text, warnings: response.headers.get('voxgate-warning') };
}

const verbose = async (file: Uint8Array, fields: Record<string, string> = {}) =>
  JSON.parse((await post(file, { response_format: 'verbose_json', ...fields })).text);

describe('a file of noise', () => {
  test('has marked segments and words by default', async () => {
    const answer = await verbose(NOISE);
    expect(answer).toMatchObject({ text: expect.stringMatching(INVENTED), no_speech: true });
    expect(answer.segments).toMatchObject([{ no_speech: true, no_speech_prob: 1 }]);
    for (const word of answer.words) expect(word.no_speech).toBe(true);
    expect(answer.warnings).toMatchObject([{ code: 'no_speech' }]);
  });

  test.each(['json', 'text', 'verbose_json', 'srt', 'vtt', 'diarized_json'])(
    'has no text in %s with drop',
    async (format) => {
      const { text, warnings } = await post(NOISE, { response_format: format, speech_gate: 'drop' });
      expect(text).not.toMatch(INVENTED);
      expect(warnings).toContain('no_speech');
    },
  );

  test('has the text without a mark with off', async () => {
    const answer = await verbose(NOISE, { speech_gate: 'off' });
    expect([answer.no_speech, answer.segments[0].no_speech, answer.warnings]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('costs the same in each mode', async () => {
    const costs = [];
    for (const speech_gate of ['off', 'mark', 'drop']) costs.push((await verbose(NOISE, { speech_gate })).usage);
    expect(costs[1]).toEqual(costs[0]);
    expect(costs[2]).toEqual(costs[0]);
  });

  test('streams no text with drop', async () => {
    const { text } = await post(NOISE, { stream: 'true', speech_gate: 'drop' });
    expect(text).not.toMatch(INVENTED);
    expect(text).toContain('"no_speech":true');
  });

  test('is checked when it was too large to be kept in memory', async () => {
    const answer = await verbose(wavOf(noise(120)));
    expect(answer.no_speech).toBe(true);
  });

  test('has the shape of another vendor for its clients', async () => {
    const body = new Blob([NOISE]);
    const response = await live.request(`/compat/deepgram/v1/listen?model=${MODEL}`, { method: 'POST', body });
    const text = await response.text();
    expect([response.status, INVENTED.test(text)]).toEqual([200, true]);
    expect(JSON.parse(text).results.channels[0].alternatives[0].words[0]).not.toHaveProperty('no_speech');
  });
});

describe('speech', () => {
  test('stays as it is in each mode, with invented text before and after it dropped', async () => {
    const file = wavOf(noise(6), SPEECH, new Uint8Array(8 * RATE));
    const [off, mark, drop] = [
      await verbose(READING, { speech_gate: 'off' }),
      await verbose(file, { speech_gate: 'mark' }),
      await verbose(file, { speech_gate: 'drop' }),
    ];
    const unmarked = mark.segments.filter(({ no_speech }: { no_speech?: true }) => !no_speech);
    const marked = mark.segments.filter(({ no_speech }: { no_speech?: true }) => no_speech);
    expect(marked.map(({ text }: { text: string }) => INVENTED.test(text))).toEqual([true, true]);
    expect(drop.segments.map(({ text }: { text: string }) => text)).toEqual(
      unmarked.map(({ text }: { text: string }) => text),
    );
    expect(drop.text).not.toMatch(INVENTED);
    expect(drop.text.split(' ').length).toBeGreaterThan(0.9 * off.text.split(' ').length);
  });

  test.each(['reading.wav', 'commands.wav'])('of %s is never marked', async (name) => {
    const file = readFileSync(new URL(`../../fixtures/audio/${name}`, import.meta.url));
    const answer = await verbose(file);
    expect(answer.text).not.toBe('');
    for (const segment of answer.segments) expect(segment).not.toHaveProperty('no_speech');
  });
});
