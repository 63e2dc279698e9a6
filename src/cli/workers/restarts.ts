// How often what ends unasked is started again, and after how long.

const WINDOW_MS = 60_000;
const RESTARTS_MAX = 5;
const BACKOFF_MS = 100;
const BACKOFF_FACTOR = 3;
const BACKOFF_MS_MAX = 10_000;

/** The restarts of one process. */
export class Restarts {
  #at: number[] = [];

  /**
   * It ended: how long to wait before it is started again, longer each time within a minute; undefined when it has been started
   * again often enough in that minute.
   *
   * @param nowMs monotonic
   */
  after(nowMs: number): number | undefined {
    this.#at = this.#at.filter((ms) => nowMs - ms < WINDOW_MS);
    if (this.#at.length === RESTARTS_MAX) return undefined;
    this.#at.push(nowMs);
    return Math.min(BACKOFF_MS * BACKOFF_FACTOR ** (this.#at.length - 1), BACKOFF_MS_MAX);
  }
}
