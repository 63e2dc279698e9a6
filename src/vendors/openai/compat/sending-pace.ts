// How far a client's audio is ahead of the time in which it could have been spoken. Audio that is sent at the pace of speech is not
// ahead, however long its silences are.

/** A network that was held up brings as much audio at once. */
const HELD_UP_MS_MAX = 2_000;

export class SendingPace {
  readonly #nowMs: () => number;
  #aheadMs = 0;
  #atMs: number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#atMs = nowMs();
  }

  /** Seconds. */
  get ahead(): number {
    this.#pass();
    return Math.max(0, this.#aheadMs) / 1000;
  }

  sent(seconds: number): void {
    this.#pass();
    this.#aheadMs += seconds * 1000;
  }

  #pass(): void {
    const nowMs = this.#nowMs();
    this.#aheadMs = Math.max(-HELD_UP_MS_MAX, this.#aheadMs - (nowMs - this.#atMs));
    this.#atMs = nowMs;
  }
}
