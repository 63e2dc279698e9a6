// Mistral's official SDK, unmodified, against the simulated Mistral.
import { Mistral } from '@mistralai/mistralai';
import { RealtimeTranscription } from '@mistralai/mistralai/extra/realtime';
import { describe, expect, it } from 'vitest';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { scripted, WHOLE } from '../../suites/provider/scripted.ts';

const LIVE_2 = 'voxtral-mini-transcribe-realtime-2602';

const simulated = scripted('mistral');

describe('the SDK live', () => {
  it('gets growing text, the result of a flush, and the end', async () => {
    const { url } = await simulated();
    const live = new RealtimeTranscription({ apiKey: 'good', serverURL: url });
    const audioFormat = { encoding: 'pcm_s16le', sampleRate: 16_000 } as const;
    const connection = await live.connect(LIVE_2, { audioFormat });
    await connection.sendAudio(new Uint8Array(32_000));
    await connection.flushAudio();
    await connection.sendAudio(new Uint8Array(32_000));
    await connection.endAudio();
    const said: { type: string; text?: unknown }[] = [];
    for await (const event of connection) said.push(event as (typeof said)[number]);
    expect(said.slice(0, 2).map(({ type }) => type)).toEqual(['session.created', 'session.updated']);
    const textOf = (wanted: string) => said.filter(({ type }) => type === wanted).map(({ text }) => text);
    expect(textOf('transcription.text.delta').join('')).toBe(` ${WHOLE}`);
    expect(textOf('transcription.done')).toEqual(['hello and welcome.', 'good bye']);
    expect(said.filter(({ type }) => type === 'unknown')).toEqual([]);
  });
});

describe('the SDK with files', () => {
  const create = async (change: object = {}) => {
    const client = new Mistral({
      apiKey: 'good',
      serverURL: (await simulated()).url,
      retryConfig: { strategy: 'none' },
    });
    const file = { fileName: 'audio.wav', content: silentWav(2) };
    return client.audio.transcriptions.complete({ model: 'voxtral-mini-2602', file, ...change });
  };

  it('gets text, segments with speakers, and words', async () => {
    expect(await create()).toMatchObject({ text: WHOLE, segments: [], language: null });
    const { segments } = await create({ timestampGranularities: ['segment'], diarize: true });
    expect(segments).toMatchObject([
      { start: 0, speakerId: 'speaker_1' },
      { end: 2, speakerId: 'speaker_2' },
    ]);
    expect((await create({ timestampGranularities: ['word'] })).segments).toHaveLength(5);
  });

  it.each([
    [{ model: 'voxtral-none' }, 422],
    [{ contextBias: ['two words'] }, 422],
    [{ language: 'en', timestampGranularities: ['segment'] }, 422],
    [{ file: { fileName: 'a.wav', content: Buffer.from('no audio') } }, 400],
  ])('fails with %j', async (change, statusCode) => {
    await expect(create(change)).rejects.toMatchObject({ statusCode });
  });
});
