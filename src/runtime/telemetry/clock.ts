// The system's clock behind the port of machines/clock.ts. Decides nothing about when anything happens.
import type { Clock } from '../../../machines/clock.ts';

/** The longest delay of one of Node's timers; beyond it they fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A timer that may outlast one of Node's: it is armed again until its time has come. */
class Timer {
  #timeout: NodeJS.Timeout | undefined;

  constructor(callback: () => void, delayMs: number, keepsProcess: boolean) {
    if (Number.isNaN(delayMs)) throw new RangeError('A timer was given a delay that is not a number.');
    const deadlineMs = performance.now() + delayMs;
    const arm = (remainingMs: number): void => {
      const isLast = remainingMs <= TIMER_MS_MAX;
      this.#timeout = setTimeout(
        isLast ? callback : () => arm(deadlineMs - performance.now()),
        isLast ? Math.max(0, remainingMs) : TIMER_MS_MAX,
      );
      if (!keepsProcess) this.#timeout.unref();
    };
    arm(delayMs);
  }

  clear(): void {
    clearTimeout(this.#timeout);
  }
}

function clock(keepsProcess: boolean): Clock {
  return {
    now: () => performance.now(),
    setTimeout: (callback, delayMs) => new Timer(callback, delayMs, keepsProcess),
    clearTimeout: (handle) => {
      if (handle instanceof Timer) handle.clear();
    },
  };
}

/** Monotonic milliseconds and timers of any length. A waiting timer keeps the process alive. */
export const systemClock: Clock = clock(true);

/** The same for housekeeping: its timers do not keep the process alive. */
export const backgroundClock: Clock = clock(false);
