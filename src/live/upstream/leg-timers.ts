// The timers of a leg: its keep-alive, and the call that its codec asked for.
import type { Clock } from '../../../machines/clock.ts';
import { IdleTimer } from '../../runtime/timeouts.ts';

export class LegTimers {
  readonly #clock: Clock;
  #keepAlive: IdleTimer | undefined;
  #wakeTimer: unknown;
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `send` whenever nothing was sent for so long. */
  keepAliveEvery(periodMs: number | undefined, send: () => void): void {
    if (periodMs === undefined || this.#stopped) return;
    this.#keepAlive = new IdleTimer(this.#clock, periodMs, () => {
      send();
      this.keepAliveEvery(periodMs, send);
    });
  }

  /** Something was sent. */
  touch(): void {
    this.#keepAlive?.touch();
  }

  /** One at a time: a later one replaces it. */
  wakeAfter(afterMs: number, wake: () => void): void {
    this.#clock.clearTimeout(this.#wakeTimer);
    if (!this.#stopped) this.#wakeTimer = this.#clock.setTimeout(wake, afterMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#keepAlive?.stop();
    this.#clock.clearTimeout(this.#wakeTimer);
  }
}
