// Groq's official SDK, unmodified, against the simulated Groq.
import Groq from 'groq-sdk';
import { expect, it } from 'vitest';
import { scripted, WHOLE, wavFile } from '../../suites/provider/scripted.ts';

const simulated = scripted('groq');

async function client(apiKey = 'good') {
  const { url } = await simulated();
  return new Groq({ apiKey, baseURL: url, maxRetries: 0 });
}

const MODEL = 'whisper-large-v3-turbo';

it('gets the text, and the requested extras', async () => {
  const audio = (await client()).audio.transcriptions;
  expect(await audio.create({ model: MODEL, file: wavFile() })).toEqual({
    ...{ text: ` ${WHOLE}`, x_groq: { id: expect.any(String) } },
  });
  const asked = { response_format: 'verbose_json', timestamp_granularities: ['segment', 'word'] } as const;
  const whole = await audio.create({
    ...asked,
    timestamp_granularities: [...asked.timestamp_granularities],
    model: MODEL,
    file: wavFile(),
  });
  expect(whole).toMatchObject({ duration: 2, language: 'english', segments: [{ start: 0 }, { start: 1, end: 2 }] });
  expect((whole as { words?: unknown[] }).words).toHaveLength(5);
});

it.each([
  ['good', { model: 'whisper-1' }, 404],
  ['good', { response_format: 'srt' as 'json' }, 400],
  ['good', { file: wavFile(Buffer.from('no audio at all')) }, 400],
  ['good', { file: wavFile(Buffer.alloc(25_000_001)) }, 413],
])('fails with %s and %j', async (key, change, status) => {
  const create = (await client(key)).audio.transcriptions.create({ model: MODEL, file: wavFile(), ...change });
  await expect(create).rejects.toMatchObject({ status });
});
