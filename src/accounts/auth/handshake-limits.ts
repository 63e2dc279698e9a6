// Handshakes that wait for their verdict: how many at a time, in all and from one address. Those that come from the cache
// wait for nothing, so what fills up is what waits for the store.
import { apiError } from '../../api/errors.ts';
import { MinuteLimit, type MinuteLimitOptions } from '../../runtime/limits/minute-limit.ts';
import { Quota } from '../../runtime/limits/quota.ts';
import { networkOf } from '../../runtime/network-addresses.ts';

const RETRY_SECONDS = 1;

export interface WaitingHandshakesOptions {
  handshakesMax: number;
  perAddressMax: number;
  /** What their credentials are, as the refusal says it: to be checked, when absent. */
  credentials?: string;
}

export class WaitingHandshakes {
  readonly #options: WaitingHandshakesOptions;
  /** By the network of the address. */
  readonly #quota: Quota;

  constructor(options: WaitingHandshakesOptions) {
    this.#options = options;
    this.#quota = new Quota(options.handshakesMax, 1);
  }

  get size(): number {
    return this.#quota.used;
  }

  /**
   * Counts a handshake until the returned function is called.
   * Throws an ApiError `overloaded` (all places are taken) or `rate_limit_exceeded` (those of the address are).
   */
  enter(address: string): () => void {
    const { perAddressMax, credentials = 'to be checked' } = this.#options;
    const held = this.#quota.hold(networkOf(address), perAddressMax);
    if (held === 'share') {
      throw apiError(
        'rate_limit_exceeded',
        `${perAddressMax} handshakes from this address wait for their credentials ${credentials} already. Try again in a moment.`,
        { retryAfterSeconds: RETRY_SECONDS },
      );
    }
    if (held === 'full') {
      throw apiError(
        'overloaded',
        `Too many handshakes wait for their credentials ${credentials}. Try again in a moment.`,
        { retryAfterSeconds: RETRY_SECONDS },
      );
    }
    return held;
  }
}

// Guessing from one address: after a number of refused credentials per minute, its credentials are not checked for a while.
export interface FailedAttemptsOptions extends MinuteLimitOptions {
  perMinuteMax: number;
}

/** Attempts of one address that wait for the verdict on others. */
const WAITING_MAX = 256;

/** An attempt that is being judged. Ended by one of the two, once. */
export interface JudgedAttempt {
  /** It was not a failure. */
  forgive(): void;
  fail(): void;
}

/** What is being judged of one address, and what waits for that. */
interface Judging {
  attempts: number;
  waiting: (() => void)[];
}

export class FailedAttempts {
  readonly #limit: MinuteLimit;
  readonly #perMinuteMax: number;
  readonly #judging = new Map<string, Judging>();

  constructor({ perMinuteMax, ...options }: FailedAttemptsOptions) {
    this.#limit = new MinuteLimit(options);
    this.#perMinuteMax = perMinuteMax;
  }

  /** Addresses whose failures were forgotten too early, because too many addresses failed at once. */
  get forgottenAddresses(): number {
    return this.#limit.forgotten;
  }

  /**
   * Counts an attempt as failed before it is judged, so that attempts made at the same time cannot slip through together. Past
   * the limit it waits for the verdict on those before it: where they are good, as after a restart behind one proxy, there is
   * room again. Rejects with an ApiError `rate_limit_exceeded` with `Retry-After`.
   */
  async begin(address: string): Promise<JudgedAttempt> {
    const name = networkOf(address);
    for (;;) {
      const { retryAfterSeconds, headers } = this.#limit.take(name, this.#perMinuteMax);
      if (retryAfterSeconds === 0) return this.#judge(name);
      const judging = this.#judging.get(name);
      if (judging === undefined || judging.waiting.length >= WAITING_MAX) {
        throw apiError(
          'rate_limit_exceeded',
          `Too many credentials from this address were refused: more than ${this.#perMinuteMax} in a minute. Check the credential, and try again in ${retryAfterSeconds} s.`,
          { retryAfterSeconds, headers },
        );
      }
      await new Promise<void>((resolve) => judging.waiting.push(resolve));
    }
  }

  #judge(name: string): JudgedAttempt {
    const judging = this.#judging.get(name) ?? { attempts: 0, waiting: [] };
    this.#judging.set(name, judging);
    judging.attempts++;
    const end = () => {
      judging.attempts--;
      if (judging.attempts === 0) this.#judging.delete(name);
      for (const resolve of judging.waiting.splice(0)) resolve();
    };
    return {
      forgive: () => {
        this.#limit.giveBack(name, this.#perMinuteMax);
        end();
      },
      fail: end,
    };
  }
}
