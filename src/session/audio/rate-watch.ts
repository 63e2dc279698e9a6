// Suspects a wrong sample rate: audio that arrives steadily, as from a microphone, yet at another speed than real time.
// A file sent at once, a client that pauses, or one that sends again what a broken connection lost is no suspect.

const WINDOW_MS = 10_000;
/** A window has so many parts; a wrong rate shows in all of them alike. */
const PART_MS = 2_000;
const PARTS_APART = 1.5;
const STEADY_GAP_MS = 500;

/** Looks at one window at a time; suspects at most once. */
export class RateWatch {
  readonly #sampleRate: number;
  #startedAt = Number.NaN;
  #startedSamples = 0;
  #partAt = 0;
  #partSamples = 0;
  #slowest = Infinity;
  #fastest = 0;
  #lastAt = 0;
  #steady = true;
  #suspected = false;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** The ratio of audio time to clock time when it is suspicious (over 20 % off), else undefined. */
  note(receivedSamples: number, nowMs: number): number | undefined {
    if (this.#suspected) return undefined;
    if (Number.isNaN(this.#startedAt)) {
      this.#begin(receivedSamples, nowMs);
      return undefined;
    }
    if (nowMs - this.#lastAt > STEADY_GAP_MS) this.#steady = false;
    this.#lastAt = nowMs;
    if (nowMs - this.#partAt >= PART_MS) this.#endPart(receivedSamples, nowMs);
    if (nowMs - this.#startedAt < WINDOW_MS) return undefined;
    const ratio = this.#ratio(receivedSamples - this.#startedSamples, nowMs - this.#startedAt);
    const isSteady = this.#steady && this.#fastest < this.#slowest * PARTS_APART;
    // Beyond a factor of eight it is a file, not a microphone.
    const odd = isSteady && (ratio < 0.8 || ratio > 1.2) && ratio > 0.125 && ratio < 8;
    this.#begin(receivedSamples, nowMs);
    if (!odd) return undefined;
    this.#suspected = true;
    return ratio;
  }

  #begin(receivedSamples: number, nowMs: number): void {
    this.#startedAt = nowMs;
    this.#startedSamples = receivedSamples;
    this.#partAt = nowMs;
    this.#partSamples = receivedSamples;
    this.#slowest = Infinity;
    this.#fastest = 0;
    this.#lastAt = nowMs;
    this.#steady = true;
  }

  #endPart(receivedSamples: number, nowMs: number): void {
    const ratio = this.#ratio(receivedSamples - this.#partSamples, nowMs - this.#partAt);
    this.#slowest = Math.min(this.#slowest, ratio);
    this.#fastest = Math.max(this.#fastest, ratio);
    this.#partAt = nowMs;
    this.#partSamples = receivedSamples;
  }

  #ratio(samples: number, elapsedMs: number): number {
    return (samples / this.#sampleRate) * (1000 / elapsedMs);
  }
}
