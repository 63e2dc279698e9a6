// The clock every part takes from outside: XState's two methods and the time itself. `SimulatedClock` of xstate fits it.

/** Milliseconds and timers. `now()` is monotonic; it is not the wall clock. */
export interface Clock {
  now(): number;
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(handle: unknown): void;
}
