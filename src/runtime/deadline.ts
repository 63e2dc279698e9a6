// A deadline that is moved often and reached seldom: moving it costs an assignment, not a timer.
import type { Clock } from '../../machines/clock.ts';

/** Calls `reached` once `afterMs` have gone by since the last `touch`. Starts when created; `stop` ends it for good. */
export class Deadline {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #reached: () => void;
  #touchedAt: number;
  #timer: unknown;
  #stopped = false;

  constructor(clock: Clock, afterMs: number, reached: () => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#reached = reached;
    this.#touchedAt = clock.now();
    this.#arm(afterMs);
  }

  touch(): void {
    this.#touchedAt = this.#clock.now();
  }

  stop(): void {
    this.#stopped = true;
    this.#clock.clearTimeout(this.#timer);
  }

  #arm(delayMs: number): void {
    this.#timer = this.#clock.setTimeout(() => {
      if (this.#stopped) return;
      const leftMs = this.#touchedAt + this.#afterMs - this.#clock.now();
      if (leftMs > 0) {
        this.#arm(leftMs);
        return;
      }
      this.#stopped = true;
      this.#reached();
    }, delayMs);
  }
}
