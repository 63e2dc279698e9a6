// How fast a simulated service takes audio: `PacedIntake` makes what comes too fast wait, `Pace` tells how far a client has
// come ahead, for services that refuse it.
import type { Clock } from '../../../../machines/clock.ts';

/** Audio that waits; a client that sends more is cut off. */
const QUEUE_SECONDS_MAX = 600;
/** Sums of milliseconds are rounded. */
export const ROUNDING_MS = 1e-6;

interface IntakeListener {
  /** Audio that is taken up now. */
  audio(bytes: Uint8Array): void;
  /** More audio waits than is kept. */
  overflow(): void;
}

/** Audio and messages in their order; audio no faster than `speedMax` times real time. */
export class PacedIntake {
  readonly #clock: Clock;
  readonly #bytesPerSecond: number;
  readonly #speedMax: number;
  readonly #listener: IntakeListener;
  #queue: (Uint8Array | (() => void))[] = [];
  #queuedBytes = 0;
  /** When all audio taken up so far is due. */
  #dueMs: number;
  #timer: unknown;

  constructor(clock: Clock, bytesPerSecond: number, speedMax: number, listener: IntakeListener) {
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
    this.#speedMax = speedMax;
    this.#listener = listener;
    this.#dueMs = clock.now();
  }

  audio(bytes: Uint8Array): void {
    if (this.#queuedBytes + bytes.byteLength > QUEUE_SECONDS_MAX * this.#bytesPerSecond) {
      this.#listener.overflow();
      return;
    }
    // Time in which nothing waited is not made up for; a timer that is late is.
    if (this.#queuedBytes === 0) this.#dueMs = Math.max(this.#dueMs, this.#clock.now());
    this.#queuedBytes += bytes.byteLength;
    this.#queue.push(bytes.slice());
    this.#run();
  }

  /** Does `work` when everything sent before it was taken up. */
  message(work: () => void): void {
    this.#queue.push(work);
    this.#run();
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#queue = [];
  }

  #run(): void {
    if (this.#timer !== undefined) return;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const waitMs = this.#dueMs - this.#clock.now();
      if (next instanceof Uint8Array && waitMs > 0) {
        this.#timer = this.#clock.setTimeout(() => {
          this.#timer = undefined;
          this.#run();
        }, waitMs);
        return;
      }
      this.#queue.shift();
      if (!(next instanceof Uint8Array)) {
        next();
        continue;
      }
      this.#queuedBytes -= next.byteLength;
      this.#dueMs += (next.byteLength * 1_000) / this.#bytesPerSecond / this.#speedMax;
      this.#listener.audio(next);
    }
  }
}

/** How much audio a client has sent since it last fell behind real time, and in how long. */
export class Pace {
  readonly #clock: Clock;
  #fromMs: number;
  #sentMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#fromMs = clock.now();
  }

  /** What a client did not send while it was silent, it may not send at once later. */
  sent(audioMs: number): { sentMs: number; elapsedMs: number } {
    const nowMs = this.#clock.now();
    if (this.#fromMs + this.#sentMs <= nowMs) {
      this.#fromMs = nowMs;
      this.#sentMs = 0;
    }
    this.#sentMs += audioMs;
    return { sentMs: this.#sentMs, elapsedMs: nowMs - this.#fromMs };
  }
}
