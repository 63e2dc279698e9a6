// ElevenLabs' official SDK, unmodified, against the simulated ElevenLabs.
import { AudioFormat, CommitStrategy, ElevenLabsClient, RealtimeEvents } from '@elevenlabs/elevenlabs-js';
import { describe, expect, it } from 'vitest';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { scripted, WHOLE } from '../../suites/provider/scripted.ts';

const RATE = 16_000;
const SESSION = { modelId: 'scribe_v2_realtime', audioFormat: AudioFormat.PCM_16000, sampleRate: RATE } as const;

const simulated = scripted('elevenlabs');

const client = async () => new ElevenLabsClient({ apiKey: 'good', baseUrl: (await simulated()).url, maxRetries: 0 });

const second = Buffer.alloc(2 * RATE).toString('base64');
const half = Buffer.alloc(RATE).toString('base64');

describe('the SDK live', () => {
  async function connected(options: object) {
    const connection = await (await client()).speechToText.realtime.connect({ ...SESSION, ...options });
    const next = (event: RealtimeEvents) => new Promise<unknown>((resolve) => connection.on(event, resolve));
    // Whoever listens to none of these is stopped by them.
    connection.on(RealtimeEvents.ERROR, () => {});
    await next(RealtimeEvents.SESSION_STARTED);
    return { connection, next };
  }

  it('gets interims, and the text and words of each commit', async () => {
    const { connection, next } = await connected({ includeTimestamps: true, commitStrategy: CommitStrategy.MANUAL });
    const interim = next(RealtimeEvents.PARTIAL_TRANSCRIPT);
    const plain = next(RealtimeEvents.COMMITTED_TRANSCRIPT);
    const timed = next(RealtimeEvents.COMMITTED_TRANSCRIPT_WITH_TIMESTAMPS);
    for (let sent = 0; sent < 4; sent++) connection.send({ audioBase64: half });
    connection.commit();
    expect(await interim).toMatchObject({ text: expect.stringMatching(/^hello/) });
    expect(await plain).toMatchObject({ text: WHOLE });
    expect(await timed).toMatchObject({
      words: expect.arrayContaining([expect.objectContaining({ text: 'bye' })]),
    });
    connection.close();
  });

  it('gets commits that the service makes at silence', async () => {
    const { connection, next } = await connected({ commitStrategy: CommitStrategy.VAD });
    const plain = next(RealtimeEvents.COMMITTED_TRANSCRIPT);
    connection.send({ audioBase64: second });
    expect(await plain).toMatchObject({ text: 'hello and welcome.' });
    connection.close();
  });

  it('gets an error for a commit with too little audio', async () => {
    const { connection, next } = await connected({});
    const throttled = next(RealtimeEvents.COMMIT_THROTTLED);
    connection.commit();
    await throttled;
    connection.close();
  });
});

describe('the SDK with files', () => {
  it('gets words, speakers, language and seconds', async () => {
    const answer = await (await client()).speechToText.convert({
      modelId: 'scribe_v2',
      file: silentWav(2),
      diarize: true,
    });
    expect(answer).toMatchObject({ languageCode: 'eng', text: WHOLE, audioDurationSecs: 2 });
    const { words = [] } = answer as { words?: { type: string; speakerId?: string }[] };
    expect(new Set(words.flatMap(({ speakerId }) => speakerId ?? []))).toEqual(new Set(['speaker_0', 'speaker_1']));
    expect(words.filter(({ type }) => type === 'spacing')).toHaveLength(4);
  });

  it.each([
    [{ modelId: 'none' }, 422],
    [{ file: Buffer.from('no audio at all') }, 400],
  ])('fails with %j', async (change, statusCode) => {
    const request = { modelId: 'scribe_v2', file: silentWav(1), ...change } as { modelId: 'scribe_v2' };
    await expect((await client()).speechToText.convert(request)).rejects.toMatchObject({ statusCode });
  });
});
