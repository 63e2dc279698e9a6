// What a simulated Deepgram does with what it is sent: messages and audio in their order, audio no faster than 1.25 times
// real time. What comes faster waits, so that results fall behind; nothing is refused for its speed.
import type { Clock } from '../../../../machines/clock.ts';

const SPEED_MAX = 1.25;
/** Audio that waits; a client that sends more is cut off. */
const QUEUE_SECONDS_MAX = 600;
const BYTES_PER_SAMPLE = 2;

interface IntakeListener {
  /** Audio that is taken up now. */
  audio(bytes: Uint8Array): void;
  /** More audio waits than is kept. */
  overflow(): void;
}

export class Intake {
  readonly #clock: Clock;
  readonly #bytesPerSecond: number;
  readonly #listener: IntakeListener;
  #queue: (Uint8Array | (() => void))[] = [];
  #queuedBytes = 0;
  /** When all audio taken up so far is due. */
  #dueMs: number;
  #timer: unknown;

  constructor(clock: Clock, sampleRate: number, listener: IntakeListener) {
    this.#clock = clock;
    this.#bytesPerSecond = sampleRate * BYTES_PER_SAMPLE;
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
      const nowMs = this.#clock.now();
      if (next instanceof Uint8Array && this.#dueMs > nowMs) {
        this.#timer = this.#clock.setTimeout(() => {
          this.#timer = undefined;
          this.#run();
        }, this.#dueMs - nowMs);
        return;
      }
      this.#queue.shift();
      if (!(next instanceof Uint8Array)) {
        next();
        continue;
      }
      this.#queuedBytes -= next.byteLength;
      this.#dueMs += (next.byteLength * 1_000) / this.#bytesPerSecond / SPEED_MAX;
      this.#listener.audio(next);
    }
  }
}
