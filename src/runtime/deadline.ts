// A deadline that is moved often and reached seldom: moving it costs an assignment, not a timer.
import type { Clock } from '../../machines/clock.ts';

/** A timer is late by more only if the process did not run: it was frozen, or its machine was asleep. */
const FROZEN_MS = 1_000;
/** A timer that fires later than this waited for a busy process, and messages that move the deadline may wait in its sockets. */
const LATE_MS = 20;

export interface DeadlineOptions {
  /**
   * After a freeze, wait for the full time once more: what was being waited for froze as well, or its answer is there and was not
   * read yet.
   */
  outlastsFreeze?: boolean;
}

/**
 * Calls `reached` once `afterMs` have gone by since the last `touch`. Starts when created; `stop` ends it for good. After a delay of the
 * whole process, what waits in its sockets is read first.
 */
export class Deadline {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #reached: () => void;
  readonly #outlastsFreeze: boolean;
  #touchedAt: number;
  #timer: unknown;
  #stopped = false;

  constructor(clock: Clock, afterMs: number, reached: () => void, { outlastsFreeze = false }: DeadlineOptions = {}) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#reached = reached;
    this.#outlastsFreeze = outlastsFreeze;
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

  #arm(delayMs: number, isLast = false): void {
    const dueAt = this.#clock.now() + delayMs;
    this.#timer = this.#clock.setTimeout(() => {
      if (this.#stopped) return;
      if (this.#outlastsFreeze && this.#clock.now() - dueAt > FROZEN_MS) this.touch();
      const leftMs = this.#touchedAt + this.#afterMs - this.#clock.now();
      if (leftMs > 0) {
        this.#arm(leftMs);
        return;
      }
      if (this.#clock.now() - dueAt > LATE_MS && !isLast) {
        this.#arm(0, true);
        return;
      }
      this.#stopped = true;
      this.#reached();
    }, delayMs);
  }
}
