// How often one client may try what costs a hash or sends a mail. What one account bears is counted by the store.
import type { Clock } from '../../../machines/clock.ts';
import { refuse } from '../../api/errors.ts';
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

/** So many a minute for each client, or for whatever else is named. */
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

  /** Throws a Refusal `rate_limit_exceeded`. */
  take(client: string): void {
    const { retryAfterSeconds } = this.#attempts.take(client, this.#perMinuteMax);
    if (retryAfterSeconds === 0) return;
    throw refuse('rate_limit_exceeded', `${this.#sentence} Try again in ${retryAfterSeconds} s.`, {
      retryAfterSeconds,
    });
  }
}
