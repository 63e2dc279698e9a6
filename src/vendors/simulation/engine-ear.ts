// An ear on a connection to an engine: audio in at any rate and cut, the messages of providers/local (or of the scripted
// provider, which says the same) out.
import type { Word } from '../../../machines/events.ts';
import { PcmConverter } from '../../audio/resampler.ts';
import type { Engine, EngineConnection } from '../kit/provider.ts';
import type { Ear, EarMessage } from '../kit/simulation.ts';
import { type HeardText, wordsOf } from '../kit/simulator/words.ts';

/** An ear that tells how much audio waits, for those who have all of it at once. */
export interface QueuedEar extends Ear {
  /** Audio taken and not yet worked on. */
  readonly queuedBytes: number;
}

export interface EngineEarOptions {
  engine: Engine;
  query: Record<string, unknown>;
  /** Hertz of the audio the ear is given, and of what the engine hears. */
  rates: { from: number; to: number };
  listener: (message: EarMessage) => void;
  /** `queuedBytes` has fallen low again. */
  onRoom: () => void;
}

/** Engines leave confidence and words out where they have none. */
type EngineMessage = EarMessage | { type: 'error'; code: string; message?: string };

export class EngineEar implements QueuedEar {
  readonly #connection: EngineConnection;
  readonly #listener: (message: EarMessage) => void;
  readonly #converter: PcmConverter;
  /** The first byte of a sample whose second is still to come. */
  #half: number | undefined;
  #over = false;

  constructor({ engine, query, rates, listener, onRoom }: EngineEarOptions) {
    this.#listener = listener;
    this.#converter = new PcmConverter(rates.from, rates.to);
    this.#connection = engine.connect(query, {
      open: () => {},
      message: (json) => this.#hear(json as EngineMessage),
      drained: () => {
        if (!this.#over) onRoom();
      },
      closed: (code) => this.#hear({ type: 'error', code: `closed_${code}` }),
    });
  }

  get queuedBytes(): number {
    return this.#connection.bufferedBytes;
  }

  /** A message of the engine's own, beside those of an ear. */
  send(message: Record<string, unknown>): void {
    this.#connection.send(message);
  }

  audio(bytes: Uint8Array): void {
    if (this.#over) return;
    const heard = this.#converter.push(this.#samples(bytes));
    if (heard.length > 0) this.#connection.send(bytesOf(heard));
  }

  finalize(): void {
    if (!this.#over) this.#connection.send({ type: 'finalize' });
  }

  finish(): void {
    if (this.#over) return;
    const rest = this.#converter.end();
    if (rest.length > 0) this.#connection.send(bytesOf(rest));
    this.#connection.send({ type: 'finish' });
  }

  close(): void {
    this.#over = true;
    this.#connection.terminate();
  }

  /** Whole samples, from wherever in memory the bytes lie. */
  #samples(bytes: Uint8Array): Int16Array {
    const carried = this.#half === undefined ? 0 : 1;
    const count = (bytes.length + carried) >> 1;
    const isWhole = carried === 0 && bytes.length % 2 === 0;
    if (isWhole && bytes.byteOffset % 2 === 0) return new Int16Array(bytes.buffer, bytes.byteOffset, count);
    const joined = new Uint8Array(bytes.length + carried);
    if (this.#half !== undefined) joined[0] = this.#half;
    joined.set(bytes, carried);
    this.#half = joined.length % 2 === 0 ? undefined : joined[joined.length - 1];
    return new Int16Array(joined.buffer, 0, count);
  }

  #hear(message: EngineMessage): void {
    if (this.#over) return;
    if (message.type === 'error') {
      this.close();
      this.#listener({ type: 'error', code: message.code });
    } else if (message.type === 'final') {
      const { turn, text, start, end } = message;
      if (text === '') this.#listener({ type: 'no_match', turn, start, end });
      else
        this.#listener({
          confidence: 1,
          ...message,
          words: message.words?.map((word) => ({ confidence: 1, ...word })) ?? evenWords(message),
        });
    } else {
      this.#listener(message);
    }
    if (message.type === 'finished') this.#over = true;
  }
}

function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** Who gives no times of words has no doubts of them either. */
const evenWords = (heard: HeardText): Word[] => wordsOf(heard).map((word) => ({ ...word, confidence: 1 }));
