// Vercel's SDK of xAI, unmodified, against the simulated xAI: xAI has none of its own for speech, and this one was mended by what the
// service was seen to say.
import { createXai } from '@ai-sdk/xai';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { scripted, WHOLE } from '../../suites/provider/scripted.ts';

const SECONDS = 2.5;
const simulated = scripted('xai');

async function model(faults: string[] = []) {
  const { url } = await simulated({ faults });
  return createXai({ apiKey: 'good', baseURL: `${url}/v1`, webSocket: WebSocket as never }).transcription();
}

const audio = () =>
  new ReadableStream<Uint8Array>({
    start(stream) {
      for (let frame = 0; frame < SECONDS * 10; frame++) stream.enqueue(new Uint8Array(3_200));
      stream.close();
    },
  });

/** All that the SDK makes of a session. */
async function partsOf(xai: object, faults: string[] = []) {
  const answer = await (await model(faults)).doStream?.({
    ...{ audio: audio(), inputAudioFormat: { type: 'audio/pcm', rate: 16_000 } },
    providerOptions: { xai: { language: 'en', keyterm: ['Voxgate', 'two words'], ...xai } },
  });
  const parts = [];
  for await (const part of answer?.stream ?? []) parts.push(part);
  return parts;
}

describe('the SDK live', () => {
  it('gets interims, an end with all of each utterance, and a last message without text', async () => {
    const parts = await partsOf({ streaming: { interimResults: true, endpointing: 400, smartTurn: 0.5 } });
    const finals = parts.flatMap((part) => (part.type === 'transcript-final' ? [part] : []));
    expect(finals.map(({ text }) => text)).toEqual(['hello and welcome.', 'good bye', 'hello and welcome.']);
    expect(finals[1]).toMatchObject({ startSecond: 1, endSecond: 2 });
    expect(parts[0]).toEqual({ type: 'stream-start', warnings: [] });
    expect(parts.some(({ type }) => type === 'transcript-partial')).toBe(true);
    expect(parts.at(-1)).toMatchObject({
      ...{ type: 'finish', text: `${WHOLE} hello and welcome.`, durationInSeconds: SECONDS },
    });
  });

  it('gets an error', async () => {
    await expect(partsOf({}, ['error-after=0ms'])).rejects.toThrow('The transcription failed.');
  });

  it('fails for a term that is too long', async () => {
    const refused = partsOf({ keyterm: ['x'.repeat(51)] });
    await expect(refused).rejects.toThrow('xAI streaming transcription error');
  });
});

describe('the SDK with files', () => {
  const generate = async (xai: Readonly<Record<string, boolean | string>>, file = silentWav(2)) =>
    (await model()).doGenerate({
      ...{ audio: new Uint8Array(file), mediaType: 'audio/wav', providerOptions: { xai } },
    });

  it('gets words, language and seconds', async () => {
    const { text, segments, language, durationInSeconds } = await generate({
      ...{ language: 'en', format: true, diarize: true, keyterm: 'Voxgate' },
    });
    expect([text, language, durationInSeconds]).toEqual([WHOLE, 'en', 2]);
    expect(segments).toHaveLength(5);
    expect(segments[4]).toMatchObject({ text: 'bye', endSecond: 2 });
  });

  it.each([
    [{ format: true }, silentWav(2), /requires language/],
    [{}, Buffer.from('no audio'), /Unsupported audio format/],
  ])('fails with %j', async (xai, file, message) => {
    const refusal = { statusCode: 400, message: expect.stringMatching(message) };
    await expect(generate(xai, file)).rejects.toMatchObject(refusal);
  });
});
