// The clock of tests whose simulator works at more than real time.
import type { Clock } from '../../../machines/clock.ts';

/** The system's clock, so many times faster. */
export function quickClock(speed: number): Clock {
  return {
    now: () => performance.now() * speed,
    setTimeout: (callback, delayMs) => setTimeout(callback, delayMs / speed),
    clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout | undefined),
  };
}
