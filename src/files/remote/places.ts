// Waits for one of a limited number of places, in which organisations have fair shares.
import { FairQueue, Quota } from '../../runtime/limits/quota.ts';

export class Places {
  readonly #quota: Quota;
  readonly #queue: FairQueue;

  /** @param max of all organisations together; one of them alone may have half */
  constructor(max: number) {
    this.#quota = new Quota(max);
    this.#queue = new FairQueue(this.#quota);
  }

  /** Those that have one, and those that wait. */
  get size(): number {
    return this.#quota.used + this.#queue.waiting;
  }

  /** Resolves with what gives the place back, any number of times. Rejects with the reason of the signal. */
  enter(organisationId: string, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      let isIn = true;
      const leave = () => {
        if (isIn) this.#queue.leave(waiter);
        isIn = false;
      };
      const giveUp = () => {
        leave();
        reject(signal.reason);
      };
      const granted = () => {
        signal.removeEventListener('abort', giveUp);
        resolve(leave);
      };
      const waiter = { organisationId, granted };
      if (this.#queue.enter(waiter)) granted();
      else signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
