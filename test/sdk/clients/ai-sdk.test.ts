// Vercel's AI SDK, unmodified, against a whole gateway: `transcribe` with each of its options, which it sends behind the file.
import { createOpenAI } from '@ai-sdk/openai';
import { experimental_transcribe as transcribe } from 'ai';
import * as sdk from 'openai';
import { describe, expect, it } from 'vitest';
import { numberedWav } from '../../clients/files.ts';
import { SAID } from '../../clients/upstream.ts';
import { startRig } from './rig.ts';

type Options = Record<string, string | number | string[]>;

const WHISPER = 'openai/whisper-1';
const TEXT = SAID.join(' ');
const rig = startRig(sdk);

const run = (openai?: Options, seconds = 4, model = WHISPER) =>
  transcribe({
    model: createOpenAI({ baseURL: `${rig.live.url}/v1`, apiKey: rig.live.key }).transcription(model),
    audio: numberedWav(seconds),
    maxRetries: 0,
    ...(openai === undefined ? {} : { providerOptions: { openai } }),
  });

/** A file that is answered in memory, and one that is handed on while it arrives. */
describe.each([4, 20])('the AI SDK with a file of %i s', (seconds) => {
  it('gets its text without any option', async () => {
    const { text, durationInSeconds, warnings } = await run(undefined, seconds);
    expect([text.startsWith(TEXT), durationInSeconds, warnings]).toEqual([true, seconds, []]);
  });

  it.each<[string, Options]>([
    ['language', { language: 'en' }],
    ['prompt', { prompt: 'Voxgate' }],
    ['temperature', { temperature: 0.2 }],
    ['timestampGranularities of segments', { timestampGranularities: ['segment'] }],
    ['timestampGranularities of both', { timestampGranularities: ['word', 'segment'] }],
    ['include', { include: ['logprobs'] }],
    ['languages', { languages: ['en', 'fr'] }],
    ['keywords', { keywords: ['Voxgate', 'WebSocket'] }],
    ['all of them', { language: 'en', prompt: 'Voxgate', temperature: 0, timestampGranularities: ['segment'] }],
    ['no value', {}],
  ])('gets text, segments, language and length with %s', async (_, options) => {
    const { text, segments, language, durationInSeconds } = await run(options, seconds);
    expect([text.startsWith(TEXT), language, durationInSeconds]).toEqual([true, 'en', seconds]);
    expect(segments.slice(0, 2)).toEqual([
      { text: SAID[0], startSecond: 0, endSecond: 2 },
      { text: SAID[1], startSecond: 2, endSecond: 4 },
    ]);
  });

  it('gets words as its segments where it asks for words alone', async () => {
    const { segments } = await run({ timestampGranularities: ['word'] }, seconds);
    expect(segments.map(({ text }) => text).slice(0, 7)).toEqual(TEXT.split(' '));
  });

  it('passes its options to the provider', async () => {
    await run({ language: 'fr', prompt: 'Voxgate', temperature: 0.2 }, seconds);
    expect(['language', 'prompt', 'temperature'].map((name) => rig.upstream.field(name))).toEqual([
      ['fr'],
      ['Voxgate'],
      ['0.2'],
    ]);
  });
});

it('explains the mistake to the AI SDK', async () => {
  await expect(run({ language: 'en' }, 4, 'openai/whisper-2')).rejects.toMatchObject({
    statusCode: 404,
    isRetryable: false,
    message: expect.stringContaining('whisper-1'),
  });
});
