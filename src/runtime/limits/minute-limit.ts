// So many a minute, counted by name: a bucket that holds the allowance of a minute and fills evenly. A quiet name may use all of
// it at once, so any 60 s let through at most twice the allowance.
import type { Clock } from '../../../machines/clock.ts';

const MINUTE_MS = 60_000;
const NAMES_MAX = 10_000;
/** What is left of adding up intervals that are no whole milliseconds. */
const ROUNDING_MS = 1e-3;

/** `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds until the whole limit is there again). */
export type RateLimitHeaders = Record<'RateLimit-Limit' | 'RateLimit-Remaining' | 'RateLimit-Reset', string>;

/** What became of asking for one. */
export interface Taken {
  /** 0 when it was given; otherwise whole seconds until asking again is worth it. */
  retryAfterSeconds: number;
  headers: RateLimitHeaders;
}

export interface MinuteLimitOptions {
  clock: Pick<Clock, 'now'>;
  /** Names remembered at a time, 10,000 when absent. Past it the one that was idle longest gets a fresh minute. */
  namesMax?: number;
}

export class MinuteLimit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #namesMax: number;
  /** A bucket as one number: the time at which it will be full again. The name that was idle longest comes first. */
  readonly #fullAtMs = new Map<string, number>();
  #forgotten = 0;

  constructor({ clock, namesMax = NAMES_MAX }: MinuteLimitOptions) {
    this.#clock = clock;
    this.#namesMax = namesMax;
  }

  /** Names forgotten before their bucket was full again, because too many were active at once. */
  get forgotten(): number {
    return this.#forgotten;
  }

  get size(): number {
    return this.#fullAtMs.size;
  }

  /** Takes one, of `max` a minute. What is refused costs nothing. */
  take(name: string, max: number): Taken {
    const nowMs = this.#clock.now();
    const intervalMs = MINUTE_MS / max;
    const missingMs = Math.max(0, (this.#fullAtMs.get(name) ?? 0) - nowMs);
    const waitMs = missingMs + intervalMs - MINUTE_MS;
    if (waitMs > ROUNDING_MS) {
      return { retryAfterSeconds: Math.ceil(waitMs / 1000), headers: rateLimitHeaders(max, 0, missingMs / 1000) };
    }
    this.#fullAtMs.delete(name);
    this.#fullAtMs.set(name, nowMs + missingMs + intervalMs);
    this.#forget(nowMs);
    const remaining = Math.floor((ROUNDING_MS - waitMs) / intervalMs);
    return { retryAfterSeconds: 0, headers: rateLimitHeaders(max, remaining, (missingMs + intervalMs) / 1000) };
  }

  /**
   * Counts some that were taken elsewhere, of `max` a minute. They are paid back where they were more than there was, up to a
   * minute of them.
   *
   * @param used what is known elsewhere to be missing in all, these included
   */
  charge(name: string, count: number, max: number, used = 0): void {
    const nowMs = this.#clock.now();
    const intervalMs = MINUTE_MS / max;
    const missingMs = Math.max(this.missingMs(name) + count * intervalMs, used * intervalMs);
    this.#fullAtMs.delete(name);
    this.#fullAtMs.set(name, nowMs + Math.min(2 * MINUTE_MS, missingMs));
    this.#forget(nowMs);
  }

  /** Milliseconds until the whole allowance is there again. */
  missingMs(name: string): number {
    return Math.max(0, (this.#fullAtMs.get(name) ?? 0) - this.#clock.now());
  }

  /** Milliseconds until there is something of the name's left, where more was charged than there was; 0 while there is. */
  waitMs(name: string): number {
    return Math.max(0, (this.#fullAtMs.get(name) ?? 0) - this.#clock.now() - MINUTE_MS);
  }

  /** Puts one back that was taken with the same `max`. */
  giveBack(name: string, max: number): void {
    const fullAt = this.#fullAtMs.get(name);
    if (fullAt === undefined) return;
    const before = fullAt - MINUTE_MS / max;
    if (before <= this.#clock.now() + ROUNDING_MS) this.#fullAtMs.delete(name);
    else this.#fullAtMs.set(name, before);
  }

  /** A full bucket is as good as none. Looks at the longest idle names only, so it costs no more than adding them did. */
  #forget(nowMs: number): void {
    for (const [name, fullAt] of this.#fullAtMs) {
      const isFull = fullAt <= nowMs;
      if (!isFull && this.#fullAtMs.size <= this.#namesMax) return;
      if (!isFull) this.#forgotten += 1;
      this.#fullAtMs.delete(name);
    }
  }
}

export function rateLimitHeaders(limit: number, remaining: number, resetSeconds: number): RateLimitHeaders {
  return {
    'RateLimit-Limit': `${limit}`,
    'RateLimit-Remaining': `${remaining}`,
    'RateLimit-Reset': `${Math.ceil(resetSeconds)}`,
  };
}
