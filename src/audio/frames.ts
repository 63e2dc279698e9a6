// Which frames leave and when: client chunks of any size become frames of the provider's contract, and none leaves faster than the
// provider takes it.

/** Sizes of audio frames in milliseconds, as `FrameContract` of a provider states them. */
export interface FrameContract {
  minMs: number;
  idealMs: number;
  maxMs: number;
  /** What becomes of a last piece shorter than `minMs`: sent as it is, or padded with silence. */
  tail: 'short' | 'pad';
}

/** A contract in samples: 1 ≤ min ≤ ideal ≤ max. */
export interface FrameSizes {
  readonly min: number;
  readonly ideal: number;
  readonly max: number;
  /** The largest frame that `frameSamples` will ask for. */
  readonly largest: number;
}

/** The contract at a sample rate. Where a rate has no whole number of samples, the minimum is kept rather than the maximum. */
export function frameSizes(contract: FrameContract, sampleRate: number): FrameSizes {
  const min = Math.max(1, Math.ceil((contract.minMs * sampleRate) / 1000));
  const max = Math.max(min, Math.floor((contract.maxMs * sampleRate) / 1000));
  const ideal = Math.min(max, Math.max(min, Math.round((contract.idealMs * sampleRate) / 1000)));
  return { min, ideal, max, largest: Math.min(max, ideal + min - 1) };
}

/**
 * Samples of the next frame out of `available`, or 0 to wait for more. A backlog leaves in frames of `ideal`, and where the
 * contract allows it no rest is left that would have to wait for `min`.
 */
export function frameSamples(sizes: FrameSizes, available: number): number {
  const { min, ideal, max } = sizes;
  if (available < min) return 0;
  if (available <= ideal) return available;
  if (available - ideal >= min) return ideal;
  if (available <= max) return available;
  const leavingMin = available - min;
  return leavingMin >= min ? leavingMin : ideal;
}

/** How far frames are gathered beyond the contract's minimum: each of them costs the same, whatever it holds. */
export interface Gathering {
  /** From 0, a frame leaves as soon as the contract allows, to 1, it waits for the ideal size. May change at any time. */
  readonly share: number;
}

/** From this share on frames are half of the ideal size, and from that one on the whole of it. */
const HALF_FROM = 0.2;
const WHOLE_FROM = 0.5;

/**
 * Samples that are missing until a frame leaves, 0 or less where one can. Frames end where the leg's clock passes a multiple of
 * the gathered size, so that each session has a phase of its own, and a change of the size takes no state. There are three sizes, so that
 * frames end where chunks of 10, 20, 50 or 100 ms do: audio would wait for a whole chunk more at a size of 80 ms.
 *
 * @param given samples that have left before
 * @param available samples that could leave now
 */
export function missingSamples({ min, ideal }: FrameSizes, share: number, given: number, available: number): number {
  if (share < HALF_FROM) return min - available;
  const size = share < WHOLE_FROM ? Math.max(min, Math.round(ideal / 2)) : ideal;
  const toBoundary = size - (given % size);
  return Math.max(min, Math.min(toBoundary, ideal)) - available;
}

/** Rounding of sums of milliseconds must never make a frame wait. */
const ROUNDING_MS = 1e-6;

/**
 * When the next frame may leave: a token bucket on the time axis, kept as one number (when everything sent so far is due at the
 * provider's speed).
 *
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
