// Ways to hear the recogniser in tests: through a pool of threads, and one stream in this process. Decides nothing itself.
import { readFileSync } from 'node:fs';
import { PcmConverter } from '../../src/audio/resampler.ts';
import { Decoders } from '../../src/recogniser/grammar/decoders.ts';
import { loadModule, type SoundSwallowerModule } from '../../src/recogniser/grammar/soundswallower.ts';
import { RecogniserStream } from '../../src/recogniser/grammar/stream.ts';
import { TaskCompiler } from '../../src/recogniser/grammar/task-compiler.ts';
import { TurnDetector } from '../../src/recogniser/grammar/turn-detector.ts';
import { type GrammarQuery, readQuery, SAMPLE_RATE, type StreamMessage } from '../../src/recogniser/protocol.ts';
import type { Engine, EngineConnection } from '../../src/vendors/kit/provider.ts';
import { local } from '../../src/vendors/local/index.ts';

export interface Sample {
  file: string;
  model: string;
  text: string;
  turns: string[];
  language: string;
  seconds: number;
  sampleRate: number;
}

export type Final = Extract<StreamMessage, { type: 'final' }>;
export type Query = Readonly<Record<string, unknown>>;

const WAV_HEADER_BYTES = 44;
const AUDIO = new URL('../fixtures/audio/', import.meta.url);

export const SAMPLES: readonly Sample[] = JSON.parse(readFileSync(new URL('samples.json', AUDIO), 'utf8'));

export function sample(file: string): Sample {
  const found = SAMPLES.find((each) => each.file === file);
  if (found === undefined) throw new Error(`There is no sample ${file}.`);
  return found;
}

/** A sample's audio as the recogniser takes it: linear16 at 16 kHz. */
export function audioOf({ file, sampleRate }: Sample): Uint8Array<ArrayBuffer> {
  const bytes = readFileSync(new URL(file, AUDIO));
  const samples = Int16Array.from({ length: (bytes.length - WAV_HEADER_BYTES) / 2 }, (_, at) =>
    bytes.readInt16LE(WAV_HEADER_BYTES + at * 2),
  );
  const converter = new PcmConverter(sampleRate, SAMPLE_RATE);
  const converted = [...converter.push(samples), ...converter.end()];
  return new Uint8Array(Int16Array.from(sampleRate === SAMPLE_RATE ? samples : converted).buffer);
}

/** So many seconds without a sound. */
export function silence(seconds: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Math.round(seconds * SAMPLE_RATE) * 2);
}

export function* chunksOf(audio: Uint8Array, bytes: number): Generator<Uint8Array> {
  for (let at = 0; at < audio.length; at += bytes) yield audio.subarray(at, at + bytes);
}

/** What the provider `local` opens a stream with. */
export function queryFor(model: string, params: Query = {}): Query {
  const name = model.replace('local/', '');
  const { endpoint } = local.live!(name).open({
    model: name,
    sampleRate: SAMPLE_RATE,
    language: undefined,
    interimResults: true,
    diarization: false,
    params,
    access: { baseUrl: undefined, credential: undefined },
  });
  return endpoint.kind === 'embedded' ? endpoint.query : {};
}

export function queryOf({ model, text }: Sample): Query {
  return queryFor(model, model.startsWith('local/align-') ? { align_text: text } : {});
}

export function finalsOf(messages: readonly StreamMessage[]): Final[] {
  return messages.filter((message) => message.type === 'final');
}

export function textsOf(messages: readonly StreamMessage[]): string[] {
  return finalsOf(messages).map(({ text }) => text);
}

/** A connection to a pool and all that was said on it. */
export class Ear {
  readonly messages: StreamMessage[] = [];
  readonly connection: EngineConnection;
  drained = 0;
  /** Resolves with the code and reason of the close. */
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #waiting: { type: StreamMessage['type']; resolve: () => void }[] = [];

  constructor(pool: Pick<Engine, 'connect'>, query: Query, owner?: string) {
    let resolve: (how: { code: number; reason: string }) => void = () => undefined;
    this.closed = new Promise((settle) => {
      resolve = settle;
    });
    const listener = {
      open: () => undefined,
      message: (json: unknown) => this.#hear(json as StreamMessage),
      drained: () => {
        this.drained++;
      },
      closed: (code: number, reason: string) => resolve({ code, reason }),
    };
    this.connection = pool.connect(query, listener, owner);
  }

  /** Resolves at the next message of a type, or at once when there was one. */
  said(type: StreamMessage['type']): Promise<void> {
    if (this.messages.some((message) => message.type === type)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ type, resolve }));
  }

  /** Sends audio and waits for the last word. */
  async listen(audio: Uint8Array, chunkBytes = 3_200): Promise<StreamMessage[]> {
    for (const chunk of chunksOf(audio, chunkBytes)) this.connection.send(chunk);
    this.connection.send({ type: 'finish' });
    await this.closed;
    return this.messages;
  }

  #hear(message: StreamMessage): void {
    this.messages.push(message);
    for (const waiter of this.#waiting.filter(({ type }) => type === message.type)) waiter.resolve();
  }
}

/** Streams in this process, on real decoders. */
export class Bench {
  readonly module: SoundSwallowerModule;
  readonly #decoders: Decoders;
  readonly #compiler = new TaskCompiler();

  private constructor(module: SoundSwallowerModule) {
    this.module = module;
    this.#decoders = new Decoders(module);
  }

  static async start(): Promise<Bench> {
    return new Bench(await loadModule());
  }

  /** Hears chunks on a new stream. `heardBytes` of a message is how much had been sent when it was said. */
  async hear(query: Query, chunks: Iterable<Uint8Array>): Promise<(StreamMessage & { heardBytes: number })[]> {
    const asked = readQuery(query) as GrammarQuery;
    const task = await this.#compiler.compile(asked);
    if ('param' in task) throw new Error(task.message);
    const decoder = await this.#decoders.take(task);
    const messages: (StreamMessage & { heardBytes: number })[] = [];
    let heardBytes = 0;
    const settings = {
      interims: asked.interims,
      alignText: task.search.kind === 'align' ? task.search.text : undefined,
      language: task.model,
    };
    const stream = new RecogniserStream(decoder, new TurnDetector(this.module), settings, (message) =>
      messages.push({ ...message, heardBytes }),
    );
    for (const chunk of chunks) {
      heardBytes += chunk.byteLength;
      stream.audio(chunk);
    }
    stream.finish();
    this.#decoders.giveBack(decoder);
    return messages;
  }
}
