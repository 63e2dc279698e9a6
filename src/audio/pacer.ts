// When the next frame may leave, so that a provider never refuses us for speed. A token bucket on the time axis, kept as one
// number: when everything sent so far is due at the provider's speed. What leaves is the coalescer's.

/** Rounding of sums of milliseconds must never make a frame wait. */
const ROUNDING_MS = 1e-6;

/**
 * Over any stretch of w milliseconds no more than `burstMs + speedMax × w` of audio is let through. `burstMs` must be at
 * least the longest frame, or that frame would never leave.
 */
export class Pacer {
  readonly #speedMax: number;
  readonly #burstMs: number;
  #dueMs: number;

  /** @param speedMax audio seconds per second; Infinity for no pacing. The full burst is there at `nowMs`. */
  constructor(speedMax: number, burstMs: number, nowMs: number) {
    this.#speedMax = speedMax;
    this.#burstMs = burstMs;
    this.#dueMs = nowMs;
  }

  /** Milliseconds until `audioMs` of audio may leave; 0 for now. */
  waitMs(audioMs: number, nowMs: number): number {
    if (this.#speedMax === Number.POSITIVE_INFINITY) return 0;
    const waitMs = this.#dueMs + (audioMs - this.#burstMs) / this.#speedMax - nowMs;
    return waitMs <= ROUNDING_MS ? 0 : waitMs;
  }

  /** Whether all that has left is due: the provider has nothing left to work off. */
  isIdle(nowMs: number): boolean {
    return this.#dueMs <= nowMs;
  }

  /** `audioMs` of audio leaves now. */
  take(audioMs: number, nowMs: number): void {
    this.#dueMs = Math.max(this.#dueMs, nowMs) + audioMs / this.#speedMax;
  }
}
