// Ends of turns that a client has asked for. Each is answered once: with the turn that it ends, or as silence where a turn begins
// behind it, or no words come for some seconds.
import type { TranscriptEvent } from '../api/listen.ts';
import type { Step, Wish } from './dialect.ts';
import { type Awaited, LOOKS_MAX, Looks } from './looks.ts';

interface AskedEnd {
  channel: number;
  /** Of the audio, where it was asked for. */
  seconds: number;
  looks: number;
}

type Heard = Pick<TranscriptEvent, 'start' | 'text' | 'is_final' | 'channel'>;

/** What is said of an end that nothing was said before. @param seconds undefined where the audio is not counted */
type Silence = (seconds: number | undefined, channel: number) => readonly string[];

/** Those that wait. Who asks for more is answered with the last of them. */
const WAITING_MAX = 64;
/** Of a sample. Other encodings are not counted: there the next turn is taken for the one that was ended. */
const BYTES: Readonly<Record<string, number>> = { linear16: 2, mulaw: 1, alaw: 1 };

export class AskedEnds implements Awaited {
  readonly #silence: Silence;
  readonly #looks = new Looks(this);
  #asked: AskedEnd[] = [];
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

  begin({ parameters }: Wish): void {
    const channels = Number(parameters.get('channels') ?? 1);
    this.#bytesPerSecond =
      (BYTES[parameters.get('encoding') ?? ''] ?? 0) * Number(parameters.get('sample_rate')) * channels;
  }

  audio(bytes: Uint8Array): Step {
    this.#bytes += bytes.byteLength;
    return { type: 'audio', bytes };
  }

  *ask(channels = 1): Iterable<Step> {
    const seconds = this.#bytesPerSecond > 0 ? this.#bytes / this.#bytesPerSecond : Number.POSITIVE_INFINITY;
    for (let channel = 0; channel < channels && this.#asked.length < WAITING_MAX; channel++)
      this.#asked.push({ channel, seconds, looks: 0 });
    yield { type: 'tell', message: { type: 'finalize' } };
    yield* this.#looks.begin();
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

  look(): string[] {
    for (const end of this.#asked) end.looks++;
    return this.#answer(({ channel, looks }) => looks >= LOOKS_MAX && !this.#open.has(channel));
  }

  /** Nothing more is heard. */
  end(): string[] {
    return this.#answer(() => true);
  }

  #answer(isSilent: (end: AskedEnd) => boolean): string[] {
    if (!this.waits) return [];
    const silent = this.#asked.filter(isSilent);
    this.#asked = this.#asked.filter((end) => !silent.includes(end));
    return silent.flatMap(({ seconds, channel }) =>
      this.#silence(Number.isFinite(seconds) ? seconds : undefined, channel),
    );
  }
}
