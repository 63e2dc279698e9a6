// Groq's official SDK, unmodified, against the simulated Groq.
import Groq from 'groq-sdk';
import { afterEach, expect, it } from 'vitest';
import { simulator } from '../../../src/providers/groq/simulator/index.ts';
import { scriptEar } from '../../../src/simulator/ears.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { closeAll, serve } from '../../simulator/client.ts';

const TURNS = [
  { text: 'hello and welcome', seconds: 1 },
  { text: 'good bye', seconds: 1 },
];

afterEach(closeAll);

async function client(apiKey = 'good') {
  const { url } = await serve({ simulator, ear: scriptEar({ turns: TURNS }) });
  return new Groq({ apiKey, baseURL: url, maxRetries: 0 });
}

const wav = (content: Uint8Array = silentWav(2)) =>
  new File([new Uint8Array(content)], 'audio.wav', { type: 'audio/wav' });
const MODEL = 'whisper-large-v3-turbo';

it('gets the text, and what was asked for beside it', async () => {
  const audio = (await client()).audio.transcriptions;
  expect(await audio.create({ model: MODEL, file: wav() })).toEqual({
    ...{ text: ' hello and welcome good bye', x_groq: { id: expect.any(String) } },
  });
  const asked = { response_format: 'verbose_json', timestamp_granularities: ['segment', 'word'] } as const;
  const whole = await audio.create({
    ...asked,
    timestamp_granularities: [...asked.timestamp_granularities],
    model: MODEL,
    file: wav(),
  });
  expect(whole).toMatchObject({ duration: 2, language: 'english', segments: [{ start: 0 }, { start: 1, end: 2 }] });
  expect((whole as { words?: unknown[] }).words).toHaveLength(5);
});

it.each([
  ['bad-key', {}, 401],
  ['limited-key', {}, 429],
  ['good', { model: 'whisper-1' }, 404],
  ['good', { response_format: 'srt' as 'json' }, 400],
  ['good', { file: wav(Buffer.from('no audio at all')) }, 400],
  ['good', { file: wav(Buffer.alloc(25_000_001)) }, 413],
])('is refused with %s and %j', async (key, change, status) => {
  const create = (await client(key)).audio.transcriptions.create({ model: MODEL, file: wav(), ...change });
  await expect(create).rejects.toMatchObject({ status });
});
