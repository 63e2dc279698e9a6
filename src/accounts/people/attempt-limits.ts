// How often one client may try what costs a hash or sends a mail. What one account bears is counted by the store.
import type { Clock } from '../../../machines/clock.ts';
import { apiError } from '../../api/errors.ts';
import { MinuteLimit } from '../../runtime/limits/minute-limit.ts';

const SENTENCE = 'Too many attempts from this address.';

export interface ClientLimitOptions {
  attemptsPerMinuteMax: number;
  /** `Too many attempts from this address.` when absent. */
  sentence?: string;
  clock: Pick<Clock, 'now'>;
  /** Clients remembered at a time, 10,000 when absent; past it the one that was quiet longest gets a fresh minute. */
  clientsMax?: number;
}

/** A number of attempts per minute for each name, such as a client or an organisation. */
export class ClientLimit {
  readonly #attempts: MinuteLimit;
  readonly #perMinuteMax: number;
  readonly #sentence: string;

  constructor({ attemptsPerMinuteMax, sentence = SENTENCE, clock, clientsMax }: ClientLimitOptions) {
    this.#attempts = new MinuteLimit({ clock, ...(clientsMax === undefined ? {} : { namesMax: clientsMax }) });
    this.#perMinuteMax = attemptsPerMinuteMax;
    this.#sentence = sentence;
  }

  get size(): number {
    return this.#attempts.size;
  }

  /** Throws an ApiError `rate_limit_exceeded`. */
  take(client: string): void {
    const { retryAfterSeconds } = this.#attempts.take(client, this.#perMinuteMax);
    if (retryAfterSeconds === 0) return;
    throw apiError('rate_limit_exceeded', `${this.#sentence} Try again in ${retryAfterSeconds} s.`, {
      retryAfterSeconds,
    });
  }
}

// How much password hashing there may be at a time: it costs a core and tens of MiB each, and any client can cause it.
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

  /** Throws an ApiError `overloaded` when too many wait already; the work is not begun then. */
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
      throw apiError('overloaded', `Too many logins at a time. Try again in ${RETRY_SECONDS} s.`, {
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
