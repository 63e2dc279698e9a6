// OpenAI's own SDK, unmodified, against the simulator: files in every format, live sessions, and refusals.
import { connect } from 'node:net';
import OpenAI, { APIError, toFile } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { afterEach, describe, expect, it } from 'vitest';
import { simulator } from '../../../src/vendors/openai/simulator/index.ts';
import { type EarSource, numberedEar, scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';

const RATE = 24_000;
/** The SDK's list of models is older than the models. */
type AudioModel = OpenAI.Audio.AudioModel;

let server: SimulatorServer | undefined;
const sockets: OpenAIRealtimeWS[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close();
  await server?.close();
});

const SCRIPT = scriptEar({
  turns: [
    { text: 'hello and welcome', seconds: 2 },
    { text: 'this is a script', seconds: 2 },
  ],
});

async function client({ ear = SCRIPT, key = 'sk-test', faults = [] as string[] } = {}): Promise<OpenAI> {
  server = await SimulatorServer.start({ simulator, ear, faults });
  return new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 });
}

const file = (seconds = 4, name = 'speech.wav') => toFile(silentWav(seconds), name, { type: 'audio/wav' });

describe('files by the SDK', () => {
  it.each(['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'gpt-4o-transcribe-diarize', 'gpt-transcribe'])(
    'come back as json from %s',
    async (model) => {
      const openai = await client();
      const { text } = await openai.audio.transcriptions.create({ file: await file(), model, response_format: 'json' });
      expect(text).toBe('hello and welcome this is a script');
    },
  );

  it('come back as text, srt and vtt', async () => {
    const openai = await client();
    const create = async (response_format: 'text' | 'srt' | 'vtt') =>
      openai.audio.transcriptions.create({ file: await file(), model: 'whisper-1', response_format });
    expect(await create('text')).toBe('hello and welcome this is a script\n');
    expect(await create('srt')).toBe(
      '1\n00:00:00,000 --> 00:00:02,000\nhello and welcome\n\n2\n00:00:02,000 --> 00:00:04,000\nthis is a script\n\n',
    );
    expect(await create('vtt')).toMatch(/^WEBVTT\n\n1\n00:00:00\.000 --> 00:00:02\.000\nhello and welcome\n/);
  });

  it('come back with segments and words', async () => {
    const openai = await client();
    const verbose = await openai.audio.transcriptions.create({
      file: await file(),
      model: 'whisper-1',
      language: 'fr',
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(verbose).toMatchObject({ language: 'french', duration: 4, usage: { type: 'duration', seconds: 4 } });
    expect(verbose.segments?.map(({ start, end }) => [start, end])).toEqual([
      [0, 2],
      [2, 4],
    ]);
    expect(verbose.words?.map(({ word }) => word).join(' ')).toBe('hello and welcome this is a script');
  });

  it('come back with speakers, who may be known by name', async () => {
    const openai = await client();
    const answer = await openai.audio.transcriptions.create({
      file: await file(40),
      model: 'gpt-4o-transcribe-diarize',
      response_format: 'diarized_json',
      chunking_strategy: { type: 'server_vad', threshold: 0.4 },
      known_speaker_names: ['Ann', 'Bob'],
      known_speaker_references: ['data:audio/wav;base64,AAAA', 'data:audio/wav;base64,AAAA'],
    });
    // The SDK's types give the plain shape for this format.
    const diarized = answer as unknown as OpenAI.Audio.TranscriptionDiarized;
    expect(diarized.segments.slice(0, 3).map(({ speaker }) => speaker)).toEqual(['Ann', 'Bob', 'Ann']);
  });

  it('come back with the worth of each token', async () => {
    const openai = await client();
    const { logprobs } = await openai.audio.transcriptions.create({
      file: await file(),
      model: 'gpt-4o-transcribe',
      include: ['logprobs'],
    });
    expect(logprobs).toHaveLength(7);
  });

  it('arrive as a stream', async () => {
    const openai = await client();
    const stream = await openai.audio.transcriptions.create({
      file: await file(),
      model: 'gpt-4o-mini-transcribe',
      stream: true,
    });
    const events = [];
    for await (const event of stream) events.push(event);
    const deltas = events.flatMap((event) => (event.type === 'transcript.text.delta' ? [event.delta] : []));
    expect(deltas.join('')).toBe('hello and welcome this is a script');
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: deltas.join('') });
  });

  it('arrive as a stream by speaker', async () => {
    const openai = await client();
    const stream = await openai.audio.transcriptions.create({
      file: await file(),
      model: 'gpt-4o-transcribe-diarize',
      response_format: 'diarized_json',
      stream: true,
    });
    const speakers = [];
    for await (const event of stream) if (event.type === 'transcript.text.segment') speakers.push(event.speaker);
    expect(speakers).toEqual(['A', 'B']);
  });
});

type Wrong = Omit<OpenAI.Audio.TranscriptionCreateParamsNonStreaming, 'file' | 'model'> & {
  model?: string;
  seconds?: number;
  name?: string;
};

describe('a refused file', () => {
  const REFUSED: [string, Wrong, number, string | null][] = [
    ['of an unknown model', { model: 'gpt-5' }, 404, 'model_not_found'],
    ['of a live model', { model: 'gpt-live-transcribe' }, 404, 'model_not_found'],
    ['without an extension', { name: 'speech' }, 400, 'unsupported_format'],
    ['with an extension that is not read', { name: 'speech.aac' }, 400, 'unsupported_format'],
    ['above 25 MB', { seconds: 1_700 }, 413, null],
    ['above 1400 s', { model: 'gpt-4o-transcribe', seconds: 1_401 }, 400, 'invalid_value'],
    ['above 1400 s, by the small model', { model: 'gpt-4o-mini-transcribe', seconds: 1_401 }, 400, 'input_too_large'],
    [
      'with speakers requested and no chunking',
      { model: 'gpt-4o-transcribe-diarize', seconds: 31, response_format: 'diarized_json' },
      400,
      'invalid_value',
    ],
    ['in a format of another model', { model: 'gpt-4o-transcribe', response_format: 'srt' }, 400, 'unsupported_value'],
    ['with speakers by a model without', { response_format: 'diarized_json' }, 400, 'unsupported_value'],
    ['with granularities without verbose_json', { timestamp_granularities: ['word'] }, 400, 'invalid_value'],
    ['with a prompt where none is taken', { model: 'gpt-4o-transcribe-diarize', prompt: 'p' }, 400, 'invalid_value'],
    ['with logprobs where there are none', { include: ['logprobs'] }, 400, 'invalid_value'],
    ['with a temperature out of range', { temperature: 2 }, 400, 'invalid_value'],
    [
      'with five known speakers',
      { model: 'gpt-4o-transcribe-diarize', known_speaker_names: ['a', 'b', 'c', 'd', 'e'] },
      400,
      'invalid_value',
    ],
  ];

  it.each(REFUSED)('%s', async (_, { seconds, name, model = 'whisper-1', ...form }, status, code) => {
    const openai = await client();
    const error = await openai.audio.transcriptions
      .create({ ...form, model: model as AudioModel, file: await file(seconds, name) })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status, code });
  });

  it('contains no audio', async () => {
    const openai = await client();
    const broken = await toFile(Buffer.from('no audio'), 'speech.wav');
    await expect(openai.audio.transcriptions.create({ file: broken, model: 'whisper-1' })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'file',
    });
  });

  it.each([
    ['bad-key', 401, 'invalid_api_key'],
    ['broke', 429, 'insufficient_quota'],
    ['limited', 429, 'rate_limit_exceeded'],
  ])('comes with the key %s', async (key, status, code) => {
    const openai = await client({ key });
    const refused = openai.audio.transcriptions.create({ file: await file(), model: 'whisper-1' });
    await expect(refused).rejects.toMatchObject({ status, code });
  });
});

/** A session of the SDK's own class, and what it heard. */
class LiveSession {
  readonly events: RealtimeServerEvent[] = [];
  readonly errors: string[] = [];
  readonly socket: OpenAIRealtimeWS;
  private readonly waiting = new Set<() => void>();

  /**
   * The class speaks TLS to a URL with a model, always. Options of the `ws` package, which it passes on, let it speak to a
   * local port, and take the model out of the path as transcription sessions want it.
   */
  constructor(openai: OpenAI, port: number, path = '/v1/realtime?intent=transcription') {
    this.socket = new OpenAIRealtimeWS(
      {
        model: 'gpt-realtime',
        options: {
          createConnection: () => connect(port, '127.0.0.1'),
          finishRequest: (request) => {
            request.path = path;
            request.end();
          },
        },
      },
      openai,
    );
    sockets.push(this.socket);
    this.socket.on('event', (event) => {
      this.events.push(event);
      for (const wake of this.waiting) wake();
    });
    this.socket.on('error', (error) => {
      this.errors.push(error.error?.code ?? error.message);
      for (const wake of this.waiting) wake();
    });
  }

  until(reached: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!reached()) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
    });
  }

  heard(type: string, times = 1): Promise<void> {
    return this.until(() => this.events.filter((event) => event.type === type).length >= times);
  }

  /** Sets the session up for a model. */
  async begin(model: string): Promise<void> {
    await this.heard('session.created');
    this.socket.send({
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: RATE },
            transcription: { model },
            turn_detection: model.startsWith('gpt-live') ? null : { type: 'server_vad' },
          },
        },
      },
    } as Parameters<OpenAIRealtimeWS['send']>[0]);
    await this.heard('session.updated');
  }

  speak(from: number, to: number): void {
    const audio = Buffer.from(numberedAudio(from * RATE, to * RATE)).toString('base64');
    this.socket.send({ type: 'input_audio_buffer.append', audio });
  }

  get transcripts(): string[] {
    return this.events.flatMap((event) =>
      event.type === 'conversation.item.input_audio_transcription.completed' ? [event.transcript] : [],
    );
  }
}

async function session(ear: EarSource = numberedEar({ turnSeconds: 2 }), path?: string) {
  const openai = await client({ ear });
  return new LiveSession(openai, (server as SimulatorServer).port, path);
}

const COMPLETED = 'conversation.item.input_audio_transcription.completed';

describe('a live session of the SDK', () => {
  it('gets turns that the server ends, and one that it ends itself', async () => {
    const live = await session();
    await live.begin('gpt-4o-transcribe');
    live.speak(0, 5);
    live.socket.send({ type: 'input_audio_buffer.commit' });
    await live.heard(COMPLETED, 3);
    expect(live.transcripts).toEqual(['0-48000', '48000-96000', `${96_000 - 65_536}-${120_000 - 65_536}`]);
    const types = live.events.map(({ type }) => type).filter((type) => !type.startsWith('session.'));
    expect(types.slice(0, 6)).toEqual([
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.input_audio_transcription.delta',
      COMPLETED,
    ]);
  });

  it('gets words while they are spoken, and the final after its own commit', async () => {
    const live = await session(SCRIPT);
    await live.begin('gpt-live-transcribe');
    for (let at = 0; at < 15; at++) live.speak(at / 10, (at + 1) / 10);
    await live.heard('conversation.item.input_audio_transcription.delta');
    expect(live.transcripts).toEqual([]);
    live.socket.send({ type: 'input_audio_buffer.commit' });
    await live.heard(COMPLETED);
    expect(live.transcripts).toEqual(['hello and welcome']);
    const deltas = live.events.flatMap((event) =>
      event.type === 'conversation.item.input_audio_transcription.delta' ? [event.delta] : [],
    );
    expect(deltas.join('')).toBe(' hello and welcome');
  });

  it('becomes a conversation with a model in its URL, and transcribes nothing', async () => {
    const live = await session(SCRIPT, '/v1/realtime?model=gpt-realtime');
    await live.heard('session.created');
    live.socket.send({ type: 'session.update', session: { type: 'transcription' } });
    await live.until(() => live.errors.length > 0);
    expect(live.errors).toEqual(['invalid_parameter']);
  });

  it('fails with a bad key', async () => {
    const openai = await client({ key: 'bad-key' });
    const live = new LiveSession(openai, (server as SimulatorServer).port);
    await live.until(() => live.errors.length > 0);
    expect(live.errors).toEqual(['invalid_api_key']);
  });

  it('opens by a client secret, with the session of that secret', async () => {
    const openai = await client({ ear: numberedEar({ turnSeconds: 1 }) });
    const secret = await openai.realtime.clientSecrets.create({
      expires_after: { anchor: 'created_at', seconds: 60 },
      session: { type: 'transcription', audio: { input: { transcription: { model: 'gpt-4o-mini-transcribe' } } } },
    });
    const browser = new OpenAI({ apiKey: secret.value, baseURL: openai.baseURL });
    const live = new LiveSession(browser, (server as SimulatorServer).port);
    await live.heard('session.created');
    live.speak(0, 1);
    await live.heard(COMPLETED);
    expect(live.transcripts).toEqual(['0-24000']);
    const wrong = {
      expires_after: { anchor: 'created_at' as const, seconds: 5 },
      session: { type: 'transcription' as const },
    };
    await expect(openai.realtime.clientSecrets.create(wrong)).rejects.toMatchObject({ status: 400 });
  });
});
