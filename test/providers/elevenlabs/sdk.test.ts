// ElevenLabs' official SDK, unmodified, against the simulated ElevenLabs; and the rules of it that no SDK breaks.
import { AudioFormat, CommitStrategy, ElevenLabsClient, RealtimeEvents } from '@elevenlabs/elevenlabs-js';
import { afterEach, describe, expect, it } from 'vitest';
import { simulator } from '../../../src/providers/elevenlabs/simulator/index.ts';
import { scriptEar } from '../../../src/simulator/ears.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { Client, closeAll, serve } from '../../simulator/client.ts';
import { quickClock } from '../../simulator/quick-clock.ts';

const RATE = 16_000;
const TURNS = [
  { text: 'hello and welcome', seconds: 1 },
  { text: 'good bye', seconds: 1 },
];
const SESSION = { modelId: 'scribe_v2_realtime', audioFormat: AudioFormat.PCM_16000, sampleRate: RATE } as const;

afterEach(closeAll);

const simulated = (speed = 1) =>
  serve({ simulator, ear: scriptEar({ turns: TURNS, interim_seconds: 0.25 }), clock: quickClock(speed) });

async function client(apiKey = 'good') {
  return new ElevenLabsClient({ apiKey, baseUrl: (await simulated()).url, maxRetries: 0 });
}

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

  it('hears interims, and of each commit the text and its words', async () => {
    const { connection, next } = await connected({ includeTimestamps: true, commitStrategy: CommitStrategy.MANUAL });
    const interim = next(RealtimeEvents.PARTIAL_TRANSCRIPT);
    const plain = next(RealtimeEvents.COMMITTED_TRANSCRIPT);
    const timed = next(RealtimeEvents.COMMITTED_TRANSCRIPT_WITH_TIMESTAMPS);
    for (let sent = 0; sent < 4; sent++) connection.send({ audioBase64: half });
    connection.commit();
    expect(await interim).toMatchObject({ text: expect.stringMatching(/^hello/) });
    expect(await plain).toMatchObject({ text: 'hello and welcome good bye' });
    expect(await timed).toMatchObject({
      words: expect.arrayContaining([expect.objectContaining({ text: 'bye' })]),
    });
    connection.close();
  });

  it('hears commits that the service makes at silence', async () => {
    const { connection, next } = await connected({ commitStrategy: CommitStrategy.VAD });
    const plain = next(RealtimeEvents.COMMITTED_TRANSCRIPT);
    connection.send({ audioBase64: second });
    expect(await plain).toMatchObject({ text: 'hello and welcome' });
    connection.close();
  });

  it('is told that a commit has too little audio', async () => {
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
    expect(answer).toMatchObject({ languageCode: 'eng', text: 'hello and welcome good bye', audioDurationSecs: 2 });
    const { words = [] } = answer as { words?: { type: string; speakerId?: string }[] };
    expect(new Set(words.flatMap(({ speakerId }) => speakerId ?? []))).toEqual(new Set(['speaker_0', 'speaker_1']));
    expect(words.filter(({ type }) => type === 'spacing')).toHaveLength(4);
  });

  it.each([
    ['bad-key', {}, 401],
    ['limited-key', {}, 429],
    ['good', { modelId: 'none' }, 422],
    ['good', { file: Buffer.from('no audio at all') }, 400],
  ])('is refused with %s and %j', async (key, change, statusCode) => {
    const request = { modelId: 'scribe_v2', file: silentWav(1), ...change } as { modelId: 'scribe_v2' };
    await expect((await client(key)).speechToText.convert(request)).rejects.toMatchObject({ statusCode });
  });
});

describe('a session', () => {
  const QUERY = 'model_id=scribe_v2_realtime&audio_format=pcm_16000';
  const open = async (query: string, key = 'good', speed = 1) => {
    const { url } = await simulated(speed);
    return new Client(`${url}/v1/speech-to-text/realtime?${query}`, { 'xi-api-key': key });
  };
  const chunk = { message_type: 'input_audio_chunk', audio_base_64: '', commit: false, sample_rate: RATE };

  it.each([
    ['bad', QUERY, 'auth_error'],
    ['broke', QUERY, 'quota_exceeded'],
    ['limited', QUERY, 'rate_limited'],
    ['good', 'model_id=none', 'invalid_request'],
    ['good', `${QUERY}&include_timestamps=true&filter_background_audio=true`, 'invalid_request'],
  ])('with the key %s and %s is accepted, told why not, and closed', async (key, query, type) => {
    const socket = await open(query, key);
    await socket.message(({ message_type }) => message_type === type);
    await socket.closed;
  });

  it.each([
    ['bytes', [new Uint8Array(2)]],
    ['a commit that is no chunk', [{ message_type: 'commit' }]],
    ['another rate', [{ ...chunk, sample_rate: 8_000 }]],
    ['a text before that is late', [chunk, { ...chunk, previous_text: 'x' }]],
  ] as const)('is ended with %s', async (_, frames) => {
    const socket = await open(QUERY);
    await socket.message(({ message_type }) => message_type === 'session_started');
    socket.send(...frames);
    await socket.message(({ message_type }) => message_type === 'input_error');
    await socket.closed;
  });

  it('is closed without a word when nothing is sent, and commits by itself what nobody does', async () => {
    const quiet = await open(QUERY, 'good', 4_000);
    expect((await quiet.closed).code).toBe(1000);
    expect(quiet.said).toHaveLength(1);
    const long = await open(QUERY);
    await long.message(({ message_type }) => message_type === 'session_started');
    for (let sent = 0; sent < 90; sent++) long.send({ ...chunk, audio_base_64: second });
    await long.message(({ message_type }) => message_type === 'committed_transcript');
  });
});
