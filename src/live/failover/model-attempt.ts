// One attempt at a model: its turn at the dial gate, its share of the retry budget, and what its breaker hears of it. What
// is attempted, and what comes after it, is decided elsewhere.
import type { LegFailure } from '../../../machines/events.ts';
import type { DialGate, RetryBudget, Ticket } from './admission.ts';
import type { Breakers } from './breakers/breakers.ts';
import { type Guarded, keyOf } from './breakers/guarded.ts';
import { GuardedCall } from './breakers/guarded-call.ts';

/** What all attempts of a node share. */
export interface Attempts {
  breakers: Breakers;
  dials: DialGate;
  retries: RetryBudget;
}

/** The breaker of the model has opened while the attempt waited for its turn. It is no news of the model. */
export const circuitOpen: LegFailure = {
  kind: 'next',
  reason: 'circuit_open',
  code: 'circuit_open',
  message: 'The model has failed too often of late, and is left alone for a while.',
  own: true,
};

export class ModelAttempt {
  readonly #retry: Ticket | undefined;
  readonly #place: Ticket;
  /** From the dial on. */
  #call: GuardedCall | undefined;

  /**
   * Calls `dial` when it is its turn; `passOver` instead, where the breaker is open by then and `hasOther` says so.
   *
   * @param retry its share of the retry budget, where it is a second attempt
   */
  constructor(
    guarded: Guarded,
    shared: Attempts,
    retry: Ticket | undefined,
    calls: { dial(): void; passOver(): void; hasOther(): boolean },
  ) {
    this.#retry = retry;
    this.#place = shared.dials.enter(keyOf(guarded), () => {
      if (shared.breakers.isOpen(guarded) && calls.hasOther()) {
        calls.passOver();
        return;
      }
      this.#call = new GuardedCall(guarded, shared.breakers);
      calls.dial();
    });
  }

  /** The connection is made. Whether it is good for anything is still to be seen. */
  ready(): void {
    this.#place.release();
    this.#retry?.release();
  }

  /** The model has proved itself. */
  held(): void {
    this.#call?.succeeded();
  }

  /** It came to nothing. */
  failed(failure: LegFailure): void {
    // Before the place is given up: who waits for it asks the breaker.
    this.#call?.failed(failure);
    this.ready();
  }

  /** It is over, whatever came of it. */
  end(): void {
    this.#call?.end();
    this.ready();
  }
}
