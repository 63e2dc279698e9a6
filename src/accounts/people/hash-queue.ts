// How much password hashing there may be at a time: it costs a core and tens of MiB each, and any client can cause it.
import { refuse } from '../../api/errors.ts';

const RUNNING_MAX = 2;
const WAITING_MAX = 32;
const RETRY_SECONDS = 5;

export interface HashQueueOptions {
  runningMax?: number;
  waitingMax?: number;
}

/** Runs pieces of work a few at a time, the others in their order. */
export class HashQueue {
  readonly #runningMax: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ runningMax = RUNNING_MAX, waitingMax = WAITING_MAX }: HashQueueOptions = {}) {
    this.#runningMax = runningMax;
    this.#waitingMax = waitingMax;
  }

  /** For the metrics. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Throws a Refusal `overloaded` when too many wait already; the work is not begun then. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#runningMax) this.#running += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place goes straight to the next one, so that no other caller can take it in between.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#waitingMax) {
      throw refuse('overloaded', `Too many logins at a time. Try again in ${RETRY_SECONDS} s.`, {
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
