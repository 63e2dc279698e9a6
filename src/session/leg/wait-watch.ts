// When a client is told that its audio waits because no node can be asked for a leg: once in each wait, and only while something
// waits.
import type { Clock } from '../../../machines/clock.ts';

export const WAITING_MS = 2_000;

export class WaitWatch {
  readonly #clock: Clock;
  readonly #tell: () => boolean;
  #timer: unknown;
  #sinceMs: number | undefined;
  #told = false;

  /** @param tell gives whether there was anything to tell of */
  constructor(clock: Clock, tell: () => boolean) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** A node is asked for a leg. */
  begin(): void {
    if (this.#told) return;
    const nowMs = this.#clock.now();
    this.#sinceMs ??= nowMs;
    this.#timer ??= this.#clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#sinceMs = undefined;
        this.#told = this.#tell();
        this.begin();
      },
      Math.max(0, this.#sinceMs + WAITING_MS - nowMs),
    );
  }

  /** No node is being asked now; the next request continues the same wait. */
  pause(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** A node has opened one: what is waited for from now on is its provider. */
  opened(): void {
    this.pause();
    this.#sinceMs = undefined;
  }

  /** The leg works: the next wait is another. */
  over(): void {
    this.#told = false;
  }
}
