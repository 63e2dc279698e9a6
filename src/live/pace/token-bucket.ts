// How much of something may pass at once, and how much of it a second from then on. What passes beyond that is owed.

export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #left: number;
  #at: number;

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#left = burst;
    this.#at = nowMs;
  }

  /** Takes so many, whether they are there or not. Says in how many milliseconds nothing is owed; 0 where nothing is. */
  take(count: number, nowMs: number): number {
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#at) * this.#perMs) - count;
    this.#at = nowMs;
    return this.#left >= 0 ? 0 : -this.#left / this.#perMs;
  }

  /** In how many milliseconds all of it may pass at once again. */
  fullMs(nowMs: number): number {
    this.take(0, nowMs);
    return (this.#burst - this.#left) / this.#perMs;
  }

  /** The share of what may pass at once that was taken, and has not come back. */
  used(nowMs: number): number {
    this.take(0, nowMs);
    return 1 - this.#left / this.#burst;
  }
}
