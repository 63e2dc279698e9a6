// AssemblyAI's own SDK against the simulator, unmodified: sessions and files, and what it makes of each refusal.
import { AssemblyAI, type StreamingTranscriber, type StreamingTranscriberParams, type TurnEvent } from 'assemblyai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { wavHeader } from '../../../src/audio/containers/wav.ts';
import { simulator } from '../../../src/vendors/assemblyai/simulator/index.ts';
import { numberedEar, scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { milliseconds } from '../../vendors/simulation/assemblyai-client.ts';
import { openTlsFront } from './tls-front.ts';

const cleanUps: (() => Promise<void>)[] = [];

beforeEach(() => {
  // The SDK takes wss only, and nobody vouches for the certificate in front of the simulator.
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  vi.spyOn(process, 'emitWarning').mockReturnValue();
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const SCRIPT = scriptEar({ turns: [{ text: 'book a table', seconds: 0.3 }], interim_seconds: 0.1 });

async function open(apiKey = 'key-1', faults: readonly string[] = [], ear = SCRIPT) {
  const server = await SimulatorServer.start({ simulator, ear, faults });
  const front = await openTlsFront(server.port);
  cleanUps.push(
    () => server.close(),
    () => front.close(),
  );
  const client = new AssemblyAI({ apiKey, baseUrl: server.url, streamingBaseUrl: server.url });
  const transcriber = (params: Partial<StreamingTranscriberParams> = {}): StreamingTranscriber => {
    const made = client.streaming.transcriber({
      websocketBaseUrl: `${front.url}/v3/ws`,
      sampleRate: 16_000,
      speechModel: 'universal-streaming-english',
      maxConnectionRetries: 0,
      ...params,
    });
    cleanUps.push(() => made.close(false));
    return made;
  };
  return { client, transcriber };
}

const audio = (ms: number): ArrayBuffer => milliseconds(ms).buffer as ArrayBuffer;

/** The turns a transcriber tells of, to wait for. */
function turnsOf(transcriber: StreamingTranscriber) {
  const turns: TurnEvent[] = [];
  let wake: (() => void) | undefined;
  transcriber.on('turn', (turn) => {
    turns.push(turn);
    wake?.();
  });
  const finals = async (count: number): Promise<TurnEvent[]> => {
    for (;;) {
      const ended = turns.filter(({ end_of_turn }) => end_of_turn);
      if (ended.length >= count) return ended;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { turns, finals };
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'It went well.',
    (error: unknown) => error,
  );

describe('the live SDK', () => {
  it('connects, gets interims and finals, and closes in order', async () => {
    const transcriber = (await open()).transcriber();
    const { turns, finals } = turnsOf(transcriber);
    expect(await transcriber.connect()).toMatchObject({ type: 'Begin', id: expect.any(String) });
    for (let frame = 0; frame < 6; frame++) transcriber.sendAudio(audio(100));
    expect((await finals(2)).map(({ transcript, turn_order }) => [turn_order, transcript])).toEqual([
      [0, 'book a table'],
      [1, 'book a table'],
    ]);
    expect(turns[0]).toMatchObject({
      end_of_turn: false,
      transcript: '',
      words: [{ text: 'book', word_is_final: false }],
    });
    transcriber.sendAudio(audio(100));
    await transcriber.close();
    expect((await finals(3))[2]).toMatchObject({ turn_order: 2, words: [{}, {}, { end: 700 }] });
  });

  it('gets the formatted version of a turn on request', async () => {
    const transcriber = (await open()).transcriber({
      formatTurns: true,
      keytermsPrompt: ['table'],
      speakerLabels: true,
    });
    const { finals } = turnsOf(transcriber);
    await transcriber.connect();
    transcriber.sendAudio(audio(300));
    expect((await finals(2)).map(({ transcript, turn_is_formatted }) => [turn_is_formatted, transcript])).toEqual([
      [false, 'book a table'],
      [true, 'Book a table.'],
    ]);
  });

  it('ends a turn at once, and changes its settings', async () => {
    const transcriber = (await open()).transcriber({ speechModel: 'u3-rt-pro' });
    const { finals } = turnsOf(transcriber);
    await transcriber.connect();
    transcriber.updateConfiguration({ min_turn_silence: 200 });
    transcriber.keepAlive();
    transcriber.sendAudio(audio(100));
    transcriber.forceEndpoint();
    expect(await finals(1)).toMatchObject([{ transcript: 'Book a table.', turn_is_formatted: true }]);
  });

  it('connects with a temporary token', async () => {
    const { client, transcriber } = await open();
    const token = await client.streaming.createTemporaryToken({ expires_in_seconds: 60 });
    const connected = transcriber({ token });
    expect(await connected.connect()).toMatchObject({ type: 'Begin' });
    expect(await failure(transcriber({ token }).connect())).toMatchObject({ code: 1008 });
  });

  it('gets Begin although it is late', async () => {
    expect(await (await open('key-1', ['begin-late=50'])).transcriber().connect()).toMatchObject({ type: 'Begin' });
  });

  it.each<[string, string[], number, string]>([
    ['bad', [], 1008, 'Missing Authorization header'],
    ['broke', [], 1008, 'Insufficient account balance'],
    ['limited', [], 1008, 'Too many concurrent sessions'],
    ['key-1', ['concurrent-3009'], 3009, 'Too many concurrent sessions'],
  ])('fails with the key %s and %j by %i', async (key, faults, code, words) => {
    const error = await failure((await open(key, faults)).transcriber().connect());
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
  });

  it.each<[string, number, string[], string]>([
    ['frames that are too short', 20, [], 'Input duration violation: 20.0 ms'],
    ['audio that comes too fast', 600, ['ahead-max=1000'], 'Audio Transmission Rate Exceeded: Received 1.20 sec'],
  ])('gets an error about %s before its close', async (_, ms, faults, words) => {
    const transcriber = (await open('key-1', faults)).transcriber();
    const errors: Error[] = [];
    transcriber.on('error', (error) => errors.push(error));
    const closed = new Promise((resolve) => transcriber.on('close', (code) => resolve(code)));
    await transcriber.connect();
    for (let frame = 0; frame < 2; frame++) transcriber.sendAudio(audio(ms));
    expect(await closed).toBe(3007);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(words)]);
  });
});

describe('the file SDK', () => {
  it('uploads, transcribes and deletes', async () => {
    const { client } = await open('key-1', [], numberedEar({ turnSeconds: 1 }));
    const audio = numberedAudio(0, 32_000);
    const file = Buffer.concat([wavHeader(16_000, audio.length), audio]);
    const transcript = await client.transcripts.transcribe(
      { audio: file, speaker_labels: true, language_code: 'en_uk' },
      { pollingInterval: 10 },
    );
    expect(transcript).toMatchObject({
      status: 'completed',
      text: '0-16000 16000-32000',
      audio_duration: 2,
      language_code: 'en_uk',
      words: [
        { text: '0-16000', start: 0, end: 1_000 },
        { start: 1_000, end: 2_000 },
      ],
      utterances: [{ speaker: 'A', text: '0-16000' }, { speaker: 'A' }],
    });
    await client.transcripts.delete(transcript.id);
    expect(await failure(client.transcripts.get(transcript.id))).toMatchObject({ message: 'Transcript not found' });
  });

  it('gets an error for a file without audio', async () => {
    const { client } = await open();
    const transcript = await client.transcripts.transcribe({ audio: Buffer.alloc(100) }, { pollingInterval: 10 });
    expect(transcript).toMatchObject({
      status: 'error',
      error: expect.stringContaining('does not appear to contain audio'),
    });
  });

  it.each([
    ['bad', 'Authentication error, API token missing/invalid'],
    ['broke', 'Your current account balance is negative. Please top up to continue.'],
    ['limited', 'Too many requests'],
  ])('fails with the key %s', async (key, message) => {
    const { client } = await open(key);
    expect(await failure(client.transcripts.transcribe({ audio: Buffer.alloc(100) }))).toMatchObject({ message });
  });
});
