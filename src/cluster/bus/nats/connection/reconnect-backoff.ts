// Backoff with jitter for connecting to NATS. Uses the monotonic clock, so that a jump of the wall clock neither stops nor
// hurries the tries.
import { once } from 'node:events';

const WAIT_MIN_MS = 100;
const WAIT_MAX_MS = 2_000;

export class ReconnectBackoff {
  readonly #now: () => number;
  readonly #random: () => number;
  #tries = 0;
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(now = () => performance.now(), random = Math.random) {
    this.#now = now;
    this.#random = random;
  }

  /** Connected: start again with the shortest delay. */
  reset(): void {
    this.#tries = 0;
    this.#nextAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * The library asks for this before each try, and lets a server rest for so long since its last try by the wall clock. It asks
   * again after the wait, so when a try is due by the monotonic clock the answer is a negative time: try now.
   */
  libraryWaitMs(): number {
    const now = this.#now();
    if (now < this.#nextAt) return this.#nextAt - now;
    this.#nextAt = now + this.#drawMs();
    return Number.NEGATIVE_INFINITY;
  }

  /** Waits after a failure; resolves early when aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const done = new AbortController();
    const timer = setTimeout(() => done.abort(), this.#drawMs());
    await Promise.race([once(signal, 'abort', { signal: done.signal }), once(done.signal, 'abort')]).catch(() => {});
    clearTimeout(timer);
    done.abort();
  }

  #drawMs(): number {
    const most = Math.min(WAIT_MAX_MS, 2 * WAIT_MIN_MS * 2 ** this.#tries);
    this.#tries = Math.min(this.#tries + 1, 16);
    return WAIT_MIN_MS + this.#random() * (most - WAIT_MIN_MS);
  }
}
