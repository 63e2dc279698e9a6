// Vercel's AI Gateway package of the AI SDK, unmodified but for address and key, with files of every size: its options are in the same
// JSON object as the file, and behind it.
import { createGatewayProvider } from '@ai-sdk/gateway';
import { experimental_transcribe as transcribe } from 'ai';
import * as sdk from 'openai';
import { describe, expect, it } from 'vitest';
import { numberedWav } from '../../clients/files.ts';
import { SAID } from '../../clients/upstream.ts';
import { FILE_BYTES_MAX, startRig } from './rig.ts';

const WHISPER = 'openai/whisper-1';
const rig = startRig(sdk);

const run = (seconds: number, providerOptions = {}, { model = WHISPER, apiKey = rig.live.key } = {}) =>
  transcribe({
    model: createGatewayProvider({ baseURL: `${rig.live.url}/compat/vercel/v3/ai`, apiKey }).transcriptionModel(model),
    audio: numberedWav(seconds),
    ...{ maxRetries: 0, providerOptions },
  });

/** A file that is answered in memory, and one that is handed on while it arrives. */
describe.each([4, 20])('a file of %i s', (seconds) => {
  it('returns its turns, language and length, with one call to its provider', async () => {
    const before = rig.upstream.asked.length;
    const { text, segments, language, durationInSeconds } = await run(seconds);
    expect([text.startsWith(SAID.join(' ')), language, durationInSeconds]).toEqual([true, 'en', seconds]);
    expect(segments.slice(0, 2)).toEqual([
      { text: SAID[0], startSecond: 0, endSecond: 2 },
      { text: SAID[1], startSecond: 2, endSecond: 4 },
    ]);
    expect(rig.upstream.asked.length - before).toBe(1);
  });

  it('passes the options of its model and the general ones', async () => {
    await run(seconds, { openai: { temperature: 0.2, language: 'fr' }, voxgate: { prompt: 'Voxgate' } });
    expect(['language', 'prompt', 'temperature'].map((name) => rig.upstream.field(name))).toEqual([
      ['fr'],
      ['Voxgate'],
      ['0.2'],
    ]);
  });

  it('fails with wrong options', async () => {
    const refused = run(seconds, { voxgate: { language: 'no language' } });
    await expect(refused).rejects.toMatchObject({ statusCode: 400, message: expect.stringContaining('language') });
  });
});

it.each<[string, () => Promise<unknown>, object]>([
  ['a model is unknown', () => run(4, {}, { model: 'openai/whisper-2' }), { type: 'model_not_found', statusCode: 404 }],
  ['a key is revoked', () => run(4, {}, { apiKey: rig.keys.revoked.secret }), { type: 'authentication_error' }],
  ['a key may only listen', () => run(4, {}, { apiKey: rig.keys.listening.secret }), { type: 'forbidden' }],
  ['there is no credit', () => run(4, {}, { apiKey: rig.keys.broke.secret }), { type: 'forbidden', statusCode: 402 }],
  [
    'a file is too large',
    () => run(Math.ceil(FILE_BYTES_MAX / 32_000) + 10),
    { type: 'invalid_request_error', statusCode: 413 },
  ],
])('raises its own error where %s', async (_, refused, error) => {
  await expect(refused()).rejects.toMatchObject(error);
});
