// Suspects a wrong sample rate: audio that arrives steadily, as from a microphone, yet at another speed than real time.
// A file sent at once or a client that pauses is no suspect.

const WINDOW_MS = 10_000;
const STEADY_GAP_MS = 500;

/** Looks at one window at a time; suspects at most once. */
export class RateWatch {
  readonly #sampleRate: number;
  #startedAt = Number.NaN;
  #startedSamples = 0;
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
    const elapsedMs = nowMs - this.#startedAt;
    if (elapsedMs < WINDOW_MS) return undefined;
    const ratio = ((receivedSamples - this.#startedSamples) / this.#sampleRate) * (1000 / elapsedMs);
    // Beyond a factor of eight it is a file, not a microphone.
    const odd = this.#steady && (ratio < 0.8 || ratio > 1.2) && ratio > 0.125 && ratio < 8;
    this.#begin(receivedSamples, nowMs);
    if (!odd) return undefined;
    this.#suspected = true;
    return ratio;
  }

  #begin(receivedSamples: number, nowMs: number): void {
    this.#startedAt = nowMs;
    this.#lastAt = nowMs;
    this.#startedSamples = receivedSamples;
    this.#steady = true;
  }
}
