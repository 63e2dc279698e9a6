import type { Clock } from '../../../machines/clock.ts';

/** Counts sockets, so that a node that stops can wait until its last events have reached the clients. */
export class OpenSockets {
  #count = 0;
  readonly #waiting: (() => void)[] = [];

  opened(): void {
    this.#count++;
  }

  closed(): void {
    this.#count--;
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when every socket has closed, or after the time given. */
  async gone(clock: Clock, timeoutMs: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, timeoutMs);
      this.#waiting.push(() => {
        clock.clearTimeout(timer);
        resolve();
      });
    });
  }
}
