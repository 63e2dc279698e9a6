// How long things take in one session, measured from when its audio was handed to the leg. Nothing here is allocated per chunk.
import type { Clock } from '../../../../machines/clock.ts';

/** Marks that are kept, each a position and when it was handed over: 64 s of audio at four a second. */
const MARKS = 256;
const MARKS_PER_SECOND = 4;
/** Audio that comes so long after the audio before it begins a mark of its own. */
const GAP_MS = 250;
/** Audio that waits beyond this is a backlog: what comes after it measures the backlog, and nothing of the gateway. */
const BEHIND_SECONDS = 1;
const NONE = -1;

/** Of one turn, in milliseconds; undefined where it cannot be known. */
export interface TurnDelays {
  /** From when the audio in which its words begin was handed to the leg until its first words that were no final. */
  partialMs: number | undefined;
  /** From when the audio in which its words end was handed to the leg until its final was written to the client. */
  finalMs: number | undefined;
  /** From the provider's final, as it was read, until it was written to the client. */
  gatewayMs: number;
}

export class SessionDelays {
  readonly #clock: Clock;
  readonly #sampleRate: number;
  readonly #samples = new Uint32Array(MARKS);
  /** Since the first mark of the session: whole milliseconds in 24 bits last for longer than a session may. */
  readonly #times = new Float32Array(MARKS);
  readonly #epochMs: number;
  /** Marks of this leg so far. */
  #count = 0;
  /** What was handed over last, and when. */
  #lastSample = 0;
  #lastMs = 0;
  #beganSample = 0;
  #partialMs: number | undefined;
  /** A sample that is on its way from the client to the leg, and since when. */
  #probeSample = NONE;
  #probeMs = 0;
  #probeFrom = 0;

  constructor(clock: Clock, sampleRate: number) {
    this.#clock = clock;
    this.#sampleRate = sampleRate;
    this.#epochMs = clock.now();
  }

  /** A leg begins to hear from this sample on. */
  begin(sample: number): void {
    this.#count = 0;
    this.#beganSample = sample;
    this.#lastSample = sample;
    this.#lastMs = this.#clock.now() - this.#epochMs;
    this.#partialMs = undefined;
    this.#probeSample = NONE;
  }

  /** Audio comes from the client: the first of it is this sample, and everything before `sentSamples` was handed over. */
  received(sample: number, sentSamples: number): void {
    if (this.#probeSample !== NONE || sample < this.#probeFrom) return;
    if (sample - sentSamples > BEHIND_SECONDS * this.#sampleRate) return;
    this.#probeSample = sample;
    this.#probeMs = this.#clock.now();
  }

  /** No audio is let through: what is on its way waits for another leg. */
  held(): void {
    this.#probeSample = NONE;
  }

  /**
   * Audio up to this sample was handed to the leg.
   *
   * @returns now and then, how many milliseconds the client's audio took to get there
   */
  sent(sample: number, nowMs: number): number | undefined {
    const now = nowMs - this.#epochMs;
    const isMark = now - this.#lastMs > GAP_MS || (sample - this.#markedSample) * MARKS_PER_SECOND > this.#sampleRate;
    if (isMark && this.#lastSample > this.#markedSample) this.#mark(this.#lastSample, this.#lastMs);
    this.#lastSample = sample;
    this.#lastMs = now;
    if (this.#probeSample === NONE || sample <= this.#probeSample) return undefined;
    this.#probeSample = NONE;
    this.#probeFrom = sample + this.#sampleRate;
    return this.#clock.now() - this.#probeMs;
  }

  /** Words that may still change were heard, the first of which begins at this sample. */
  partial(startSample: number): void {
    this.#partialMs ??= this.#since(startSample);
  }

  /** The turn has its final, of a message that was read then, and the last word of it ends at this sample. */
  final(endSample: number, readMs: number): TurnDelays {
    const partialMs = this.#partialMs;
    const finalMs = this.#since(endSample);
    this.#partialMs = undefined;
    return { partialMs, finalMs, gatewayMs: Math.max(0, this.#clock.now() - readMs) };
  }

  /** How long ago a sample was handed to this leg. */
  #since(sample: number): number | undefined {
    if (sample < this.#beganSample || sample > this.#lastSample) return undefined;
    let laterSample = this.#lastSample;
    let laterMs = this.#lastMs;
    for (let index = this.#count - 1; index >= Math.max(0, this.#count - MARKS); index--) {
      const markSample = this.#samples[index % MARKS] as number;
      const markMs = this.#times[index % MARKS] as number;
      if (sample > markSample) return this.#ago(sample, laterSample, laterMs, markMs);
      laterSample = markSample;
      laterMs = markMs;
    }
    return this.#count > MARKS ? undefined : this.#ago(sample, laterSample, laterMs, Number.NEGATIVE_INFINITY);
  }

  /** Between two marks audio is taken to have come in its own time, but not before the earlier one. */
  #ago(sample: number, laterSample: number, laterMs: number, earlierMs: number): number {
    const handedMs = Math.max(earlierMs, laterMs - ((laterSample - sample) / this.#sampleRate) * 1000);
    return Math.max(0, this.#clock.now() - this.#epochMs - handedMs);
  }

  get #markedSample(): number {
    return this.#count === 0 ? this.#beganSample : (this.#samples[(this.#count - 1) % MARKS] as number);
  }

  #mark(sample: number, ms: number): void {
    this.#samples[this.#count % MARKS] = sample;
    this.#times[this.#count % MARKS] = ms;
    this.#count++;
  }
}
