// Handshakes that wait for their verdict: how many at a time, in all and from one address. Those that come from the cache
// wait for nothing, so what fills up is what waits for the store.
import { refuse } from '../../api/errors.ts';
import { networkOf } from '../../runtime/network-address.ts';

const RETRY_SECONDS = 1;

export interface WaitingHandshakesOptions {
  handshakesMax: number;
  perAddressMax: number;
  /** What their credentials are, as the refusal says it: to be checked, when absent. */
  credentials?: string;
}

export class WaitingHandshakes {
  readonly #options: WaitingHandshakesOptions;
  readonly #byAddress = new Map<string, number>();
  #waiting = 0;

  constructor(options: WaitingHandshakesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting;
  }

  /**
   * Counts a handshake until the returned function is called, once.
   * Throws a Refusal `overloaded` (all places are taken) or `rate_limit_exceeded` (those of the address are).
   */
  enter(address: string): () => void {
    const { handshakesMax, perAddressMax, credentials = 'to be checked' } = this.#options;
    const name = networkOf(address);
    const waiting = this.#byAddress.get(name) ?? 0;
    if (waiting >= perAddressMax) {
      throw refuse(
        'rate_limit_exceeded',
        `${perAddressMax} handshakes from this address wait for their credentials ${credentials} already. Try again in a moment.`,
        { retryAfterSeconds: RETRY_SECONDS },
      );
    }
    if (this.#waiting >= handshakesMax) {
      throw refuse(
        'overloaded',
        `Too many handshakes wait for their credentials ${credentials}. Try again in a moment.`,
        { retryAfterSeconds: RETRY_SECONDS },
      );
    }
    this.#waiting += 1;
    this.#byAddress.set(name, waiting + 1);
    return () => {
      this.#waiting -= 1;
      const left = this.#byAddress.get(name)! - 1;
      if (left === 0) this.#byAddress.delete(name);
      else this.#byAddress.set(name, left);
    };
  }
}
