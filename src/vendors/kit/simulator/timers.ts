// The timers of one connection: let go of all together when it is over.
import type { Clock } from '../../../../machines/clock.ts';

export class Timers {
  readonly #clock: Clock;
  readonly #armed = new Set<unknown>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Works after so long; at once, inside the call, where that is nothing. */
  later(delayMs: number, work: () => void): unknown {
    if (delayMs > 0) return this.after(delayMs, work);
    work();
    return undefined;
  }

  /** Works after so long, and never inside the call. */
  after(delayMs: number, work: () => void): unknown {
    const timer = this.#clock.setTimeout(() => {
      this.#armed.delete(timer);
      work();
    }, delayMs);
    this.#armed.add(timer);
    return timer;
  }

  cancel(timer: unknown): void {
    this.#clock.clearTimeout(timer);
    this.#armed.delete(timer);
  }

  clear(): void {
    for (const timer of this.#armed) this.#clock.clearTimeout(timer);
    this.#armed.clear();
  }
}
