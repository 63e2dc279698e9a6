// What the live protocols of several vendors have in common: the start of a session, ends of turns that clients request, float samples.
import { ApiError } from '../../api/errors.ts';
import type { OutgoingEvent, TranscriptEvent } from '../../api/listen-events.ts';
import { toSample } from '../../audio/pcm.ts';
import type { ClientRequest, Step } from './dialect.ts';

/** The session that a client's message asks for, or its refusal. @param asked throws an ApiError */
export function startOf(asked: () => ClientRequest): Step {
  try {
    return { type: 'start', request: asked() };
  } catch (error) {
    if (error instanceof ApiError) return { type: 'refuse', refusal: error };
    throw error;
  }
}

/** The model that hears from this event on; undefined of one that changes none. */
export function modelFrom(event: OutgoingEvent): string | undefined {
  switch (event.type) {
    case 'session_started':
    case 'configured':
      return event.model;
    case 'failover':
      return event.to;
    default:
      return undefined;
  }
}

export const POLL_MS = 500;
/** After this many polls without a word, nothing is coming. */
export const POLLS_MAX = 10;

export interface Polled {
  /** Whether the client waits for anything. */
  readonly waits: boolean;
  /** Time has passed: returns what is sent now. */
  poll(): readonly string[];
}

/** Polls as long as the client waits. */
export class Poller {
  readonly #polled: Polled;
  #isPolling = false;

  constructor(polled: Polled) {
    this.#polled = polled;
  }

  *begin(): Iterable<Step> {
    if (!this.#isPolling) yield* this.#later();
  }

  *#later(): Iterable<Step> {
    this.#isPolling = this.#polled.waits;
    if (this.#isPolling) yield { type: 'later', afterMs: POLL_MS, steps: () => this.#poll() };
  }

  *#poll(): Iterable<Step> {
    for (const text of this.#polled.poll()) yield { type: 'say', text };
    yield* this.#later();
  }
}

interface FinalizeRequest {
  channel: number;
  /** Of the audio, where it was requested. */
  seconds: number;
  polls: number;
}

type Heard = Pick<TranscriptEvent, 'start' | 'text' | 'is_final' | 'channel'>;

/** What is said of an end that nothing was said before. @param seconds undefined where the audio is not counted */
type Silence = (seconds: number | undefined, channel: number) => readonly string[];

/** Those that wait. Who asks for more is answered with the last of them. */
const WAITING_MAX = 64;
/** Of a sample. Other encodings are not counted: there the next turn is taken for the one that was ended. */
const BYTES_PER_SAMPLE: Readonly<Record<string, number>> = { linear16: 2, mulaw: 1, alaw: 1 };

/**
 * Ends of turns that a client has requested. Each is answered once: with the turn that it ends, or as silence where a turn begins after
 * it, or no words come for some seconds.
 */
export class FinalizeRequests implements Polled {
  readonly #silence: Silence;
  readonly #poller = new Poller(this);
  #asked: FinalizeRequest[] = [];
  /** Channels with words that may still change. */
  readonly #open = new Set<number>();
  #bytesPerSecond = 0;
  #bytes = 0;

  constructor(silence: Silence) {
    this.#silence = silence;
  }

  get waits(): boolean {
    return this.#asked.length > 0;
  }

  begin({ parameters }: ClientRequest): void {
    const channels = Number(parameters.get('channels') ?? 1);
    this.#bytesPerSecond =
      (BYTES_PER_SAMPLE[parameters.get('encoding') ?? ''] ?? 0) * Number(parameters.get('sample_rate')) * channels;
  }

  audio(bytes: Uint8Array): Step {
    this.#bytes += bytes.byteLength;
    return { type: 'audio', bytes };
  }

  *ask(channels = 1): Iterable<Step> {
    const seconds = this.#bytesPerSecond > 0 ? this.#bytes / this.#bytesPerSecond : Number.POSITIVE_INFINITY;
    for (let channel = 0; channel < channels && this.#asked.length < WAITING_MAX; channel++)
      this.#asked.push({ channel, seconds, polls: 0 });
    yield { type: 'tell', message: { type: 'finalize' } };
    yield* this.#poller.begin();
  }

  /** What is said before these words: words come in the order of the audio. */
  before({ start, text, is_final, channel = 0 }: Heard): string[] {
    if (is_final) this.#open.delete(channel);
    else if (text !== '') this.#open.add(channel);
    return this.#answer((end) => end.channel === channel && end.seconds <= start);
  }

  /** Whether the turn that is over is one that was ended by the client. */
  take({ channel = 0 }: Pick<Heard, 'channel'>): boolean {
    const first = this.#asked.findIndex((end) => end.channel === channel);
    if (first >= 0) this.#asked.splice(first, 1);
    return first >= 0;
  }

  poll(): string[] {
    for (const end of this.#asked) end.polls++;
    return this.#answer(({ channel, polls }) => polls >= POLLS_MAX && !this.#open.has(channel));
  }

  /** Nothing more is heard. */
  end(): string[] {
    return this.#answer(() => true);
  }

  #answer(isSilent: (end: FinalizeRequest) => boolean): string[] {
    if (!this.waits) return [];
    const silent = this.#asked.filter(isSilent);
    this.#asked = this.#asked.filter((end) => !silent.includes(end));
    return silent.flatMap(({ seconds, channel }) =>
      this.#silence(Number.isFinite(seconds) ? seconds : undefined, channel),
    );
  }
}

const BYTES_PER_FLOAT = 4;

/** Converts samples of 32-bit floats to 16-bit integers. Chunks may end anywhere. */
export class FloatSamples {
  /** The beginning of a sample whose end has not come: fewer than 4 bytes. */
  #rest = new Uint8Array(0);

  take(bytes: Uint8Array): Uint8Array {
    const all = new Uint8Array(this.#rest.byteLength + bytes.byteLength);
    all.set(this.#rest);
    all.set(bytes, this.#rest.byteLength);
    const count = Math.floor(all.byteLength / BYTES_PER_FLOAT);
    const view = new DataView(all.buffer);
    const samples = new Uint8Array(count * 2);
    const into = new DataView(samples.buffer);
    for (let at = 0; at < count; at++) {
      into.setInt16(at * 2, toSample(view.getFloat32(at * BYTES_PER_FLOAT, true) * 32_768), true);
    }
    this.#rest = all.slice(count * BYTES_PER_FLOAT);
    return samples;
  }
}
