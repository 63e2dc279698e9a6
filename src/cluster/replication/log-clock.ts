// The time of the log's entries, as its owner writes it. Clocks of different nodes may be minutes apart: a new owner continues from
// the time of the last entry, and comes to its own clock little by little. So leases that the owner before had given end neither at
// once nor much later.
import type { Clock } from '../../../machines/clock.ts';

/** Of the time that passes, so much is added or left out. */
const SLEW = 0.1;
/** A larger difference is none between two clocks: nothing was written for that long, or a clock was set. */
const APART_MS_MAX = 300_000;

export class LogClock {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #wallNowMs: () => number;
  /** Of the last entry that was seen, and when this process saw it. */
  #lastMs = Number.NEGATIVE_INFINITY;
  #seenMs = 0;
  /** How long ago the last entry was is not known. */
  #isResumed = false;

  constructor(clock: Pick<Clock, 'now'>, wallNowMs: () => number) {
    this.#clock = clock;
    this.#wallNowMs = wallNowMs;
  }

  /** An entry of that time was applied. */
  saw(entryMs: number): void {
    this.#lastMs = entryMs;
    this.#seenMs = this.#clock.now();
    this.#isResumed = false;
  }

  /** The last entry before this process was started. */
  resume(entryMs: number): void {
    this.saw(entryMs);
    this.#isResumed = true;
  }

  /** For the next entry, in milliseconds since the epoch. Never before the last one. */
  nowMs(): number {
    const wallMs = this.#wallNowMs();
    if (this.#lastMs === Number.NEGATIVE_INFINITY) return wallMs;
    const passedMs = this.#clock.now() - this.#seenMs;
    const continued = this.#lastMs + passedMs;
    const isWallRight = this.#isResumed && wallMs > continued;
    if (isWallRight || Math.abs(wallMs - continued) > APART_MS_MAX) return Math.max(this.#lastMs, wallMs);
    const most = Math.ceil(passedMs * SLEW);
    return Math.round(Math.max(this.#lastMs, continued + clamp(wallMs - continued, most)));
  }
}

const clamp = (value: number, most: number): number => Math.max(-most, Math.min(most, value));
