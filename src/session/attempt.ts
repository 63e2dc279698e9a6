// One attempt at a model: its turn at the dial gate, its share of the retry budget, and what its breaker hears of it. What
// is attempted, and what comes after it, is decided elsewhere.
import type { LegFailure } from '../../machines/events.ts';
import type { DialGate, RetryBudget, Ticket } from './admission.ts';
import type { Breakers, Guarded } from './breakers.ts';

/** What all attempts of a node share. */
export interface Attempts {
  breakers: Breakers;
  dials: DialGate;
  retries: RetryBudget;
}

/** The model was passed over: its breaker opened while the attempt waited for its turn. It says nothing new of the model. */
export const circuitOpen: LegFailure = {
  kind: 'next',
  reason: 'circuit_open',
  code: 'circuit_open',
  message: 'The model has failed too often of late, and is left alone for a while.',
};

export class Attempt {
  private readonly guarded: Guarded;
  private readonly shared: Attempts;
  private readonly retry: Ticket | undefined;
  private readonly place: Ticket;
  private begun = false;
  private told = false;

  /** Calls `dial` when it is its turn, `passedOver` instead where the breaker has opened meanwhile and `hasOther` says so. */
  constructor(
    guarded: Guarded,
    shared: Attempts,
    isRetry: boolean,
    calls: { dial(): void; passedOver(): void; hasOther(): boolean },
  ) {
    this.guarded = guarded;
    this.shared = shared;
    this.retry = isRetry ? shared.retries.take() : undefined;
    let waited = false;
    this.place = shared.dials.enter(keyOf(guarded), () => {
      if (waited && shared.breakers.isOpen(guarded) && calls.hasOther()) {
        calls.passedOver();
        return;
      }
      this.begun = true;
      shared.breakers.begun(guarded);
      calls.dial();
    });
    waited = true;
  }

  /** The connection is made. Whether it is good for anything is still to be seen. */
  ready(): void {
    this.place.release();
    this.retry?.release();
  }

  /** The model has proved itself. */
  held(): void {
    if (this.told) return;
    this.told = true;
    this.shared.breakers.succeeded(this.guarded);
  }

  failed(failure: LegFailure): void {
    // Told first: who waits for the place asks the breaker.
    if (this.begun) {
      this.told = true;
      this.shared.breakers.failed(this.guarded, failure);
    }
    this.ready();
  }

  /** It is over, whatever came of it. */
  end(): void {
    this.ready();
    if (this.begun && !this.told) this.shared.breakers.released(this.guarded);
    this.told = true;
  }
}

const keyOf = ({ slug, credentialId }: Guarded): string => `${slug} ${credentialId}`;
