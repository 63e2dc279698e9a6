// How often one client may try what costs a hash or sends a mail. What one account bears is counted by the store.
import type { Clock } from '../../machines/clock.ts';
import { refuse } from '../api/errors.ts';

const MINUTE_MS = 60_000;
const CLIENTS_MAX = 10_000;
const SENTENCE = 'Too many attempts from this address.';

export interface ClientLimitOptions {
  attemptsPerMinuteMax: number;
  /** `Too many attempts from this address.` when absent. */
  sentence?: string;
  clock: Pick<Clock, 'now'>;
  /** Clients remembered at a time, 10,000 when absent; past it the one that was quiet longest gets a fresh minute. */
  clientsMax?: number;
}

/** A token bucket for each client, or for whatever else is named. */
export class ClientLimit {
  readonly #intervalMs: number;
  readonly #sentence: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #clientsMax: number;
  /** When the bucket will be full again. Whoever was quiet longest comes first. */
  readonly #fullAtMs = new Map<string, number>();

  constructor({ attemptsPerMinuteMax, sentence = SENTENCE, clock, clientsMax = CLIENTS_MAX }: ClientLimitOptions) {
    this.#sentence = sentence;
    this.#intervalMs = MINUTE_MS / attemptsPerMinuteMax;
    this.#clock = clock;
    this.#clientsMax = clientsMax;
  }

  get size(): number {
    return this.#fullAtMs.size;
  }

  /** Throws a Refusal `rate_limit_exceeded`. */
  take(client: string): void {
    const now = this.#clock.now();
    const fullAtMs = Math.max(now, this.#fullAtMs.get(client) ?? 0) + this.#intervalMs;
    const waitMs = fullAtMs - now - MINUTE_MS;
    // Sums of intervals that are no whole milliseconds are a little off.
    if (waitMs > 1e-3) {
      const seconds = Math.max(1, Math.ceil(waitMs / 1000));
      throw refuse('rate_limit_exceeded', `${this.#sentence} Try again in ${seconds} s.`, {
        retryAfterSeconds: seconds,
      });
    }
    this.#fullAtMs.delete(client);
    this.#fullAtMs.set(client, fullAtMs);
    for (const [quiet, full] of this.#fullAtMs) {
      if (full > now && this.#fullAtMs.size <= this.#clientsMax) break;
      this.#fullAtMs.delete(quiet);
    }
  }
}
