// One call of a model under its circuit breaker, which is told that it began and, once, what became of it.
import type { LegFailure } from '../../../../machines/events.ts';
import type { Breakers } from './breakers.ts';
import type { Guarded } from './guarded.ts';

export class GuardedCall {
  readonly #guarded: Guarded;
  readonly #breakers: Breakers;
  readonly #isProbe: boolean;
  #isTold = false;

  constructor(guarded: Guarded, breakers: Breakers) {
    this.#guarded = guarded;
    this.#breakers = breakers;
    this.#isProbe = breakers.begun(guarded);
  }

  /** The model has proved itself. */
  succeeded(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#breakers.succeeded(this.#guarded);
  }

  /** It came to nothing. What the caller can bring about, or is the gateway's own, says nothing of the provider. */
  failed(failure: LegFailure): void {
    if (failure.kind !== 'caller' && failure.kind !== 'empty' && failure.own === undefined) {
      this.#isTold = true;
      this.#breakers.failed(this.#guarded, failure);
    }
    this.end();
  }

  /** It is over, whatever came of it. */
  end(): void {
    if (this.#isProbe && !this.#isTold) this.#breakers.released(this.#guarded);
    this.#isTold = true;
  }
}
