// How often a connection to NATS is tried: soon at first, then rarer, never two nodes in step. By the monotonic clock: a jump of
// the wall clock neither stops the tries nor hurries them.
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

  /** Connected: the next loss is another story. */
  reset(): void {
    this.#tries = 0;
    this.#nextAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * What the library is told before each try: how long since its last try, by the wall clock, it lets a server alone. It asks
   * again after that wait, so that the answer is "no time at all" when a try is due by this clock.
   */
  libraryWaitMs(): number {
    const now = this.#now();
    if (now < this.#nextAt) return this.#nextAt - now;
    this.#nextAt = now + this.#drawMs();
    return Number.NEGATIVE_INFINITY;
  }

  /** Waits for as long as is right after a failure; resolves early when it is given up. */
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
