// When a session may return to its primary: soon after a failover, at most once in a while, and less often if the primary fails again.
// A primary that flaps does not move a session back and forth.

/** Of the time between two returns: until the first attempt after a failover. */
const FIRST_SHARE = 1 / 6;
/** With each attempt that fails, and each return that does not hold, the pause grows by this, up to so many times between two returns. */
const GROWTH = 2;
const LONGEST_SHARE = 15;
/** A return that has lasted for so many times between two returns has held. */
const HELD_SHARE = 5;

export class ReturnPace {
  readonly #apartMs: number;
  #pauseMs: number;
  #dueMs = Number.POSITIVE_INFINITY;
  #returnedMs: number | undefined;

  /** @param apartMs between two returns at least */
  constructor(apartMs: number) {
    this.#apartMs = apartMs;
    this.#pauseMs = apartMs * FIRST_SHARE;
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#dueMs;
  }

  /** The session continues without its primary. */
  left(nowMs: number): void {
    const returnedMs = this.#returnedMs;
    const hasHeld = returnedMs === undefined || nowMs - returnedMs >= HELD_SHARE * this.#apartMs;
    if (hasHeld) this.#pauseMs = this.#apartMs * FIRST_SHARE;
    else this.#pauseMs = this.#bounded(Math.max(this.#apartMs, GROWTH * this.#pauseMs));
    this.#dueMs = Math.max(nowMs + this.#pauseMs, (returnedMs ?? Number.NEGATIVE_INFINITY) + this.#apartMs);
  }

  /** The primary could not be reached. */
  failed(nowMs: number): void {
    this.#pauseMs = this.#bounded(GROWTH * this.#pauseMs);
    this.#dueMs = nowMs + this.#pauseMs;
  }

  /** The primary was reached, and no turn has ended meanwhile. */
  unused(nowMs: number): void {
    this.#dueMs = nowMs + this.#pauseMs;
  }

  returned(nowMs: number): void {
    this.#returnedMs = nowMs;
    this.#dueMs = Number.POSITIVE_INFINITY;
  }

  #bounded(pauseMs: number): number {
    return Math.min(LONGEST_SHARE * this.#apartMs, pauseMs);
  }
}
