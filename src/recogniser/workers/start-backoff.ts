// When another worker may be started after workers have failed: a model that cannot be opened is not opened again for each stream.
import type { Clock } from '../../../machines/clock.ts';

const FIRST_WAIT_MS = 1_000;
const WAIT_MS_MAX = 60_000;
/** Failures in a row of workers that had served streams, after which the next start waits. */
const SERVED_FAILURES_FREE = 2;

export class StartBackoff {
  readonly #clock: Pick<Clock, 'now'>;
  #failures = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Milliseconds until a worker may be started. */
  get waitMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.now());
  }

  /** @param hasAnswered whether the worker had come up before it failed */
  failed(hasAnswered: boolean): void {
    this.#failures++;
    const waits = this.#failures - (hasAnswered ? SERVED_FAILURES_FREE : 0);
    if (waits > 0) this.#untilMs = this.#clock.now() + Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** (waits - 1));
  }

  /** A stream was served to its end. */
  served(): void {
    this.#failures = 0;
  }
}
