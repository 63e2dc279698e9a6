// One attempt at a model: its turn at the dial gate, its share of the retry budget, and what its breaker hears of it. What
// is attempted, and what comes after it, is decided elsewhere.
import type { LegFailure } from '../../../machines/events.ts';
import type { Mode } from '../../api/models.ts';
import type { DialGate, RetryBudget, Ticket } from './admission.ts';
import type { Breakers } from './breakers/breakers.ts';
import { type Guarded, keyOf } from './breakers/guarded.ts';
import { SERVICE_CREDENTIAL } from './chain-credential.ts';
import type { ModelMeasures } from './choice/measures.ts';
import type { StreamSlot, StreamSlots } from './stream-slots.ts';

/** What all attempts of a node share. */
export interface Attempts {
  breakers: Breakers;
  dials: DialGate;
  retries: RetryBudget;
  /** Counts what came of attempts at each model; absent: they are not counted. */
  measures?: CallMeasures | undefined;
  /** Absent: streams at providers are not counted. */
  slots?: Pick<StreamSlots, 'take'> | undefined;
}

export type CallMeasures = Pick<ModelMeasures, 'outcome'>;

/** The breaker of the model has opened while the attempt waited for its turn. It is no news of the model. */
const circuitOpen: LegFailure = {
  kind: 'next',
  reason: 'circuit_open',
  code: 'circuit_open',
  message: 'The model failed too often recently, so requests to it are paused.',
  own: true,
};

/** The gateway's account has all the streams at the provider that it may have, or the organisation its part of them. */
const streamsFull: LegFailure = {
  kind: 'next',
  reason: 'streams_full',
  code: 'streams_full',
  message: 'The gateway’s account at the provider has no free stream.',
  own: true,
};

interface AttemptCalls {
  dial(): void;
  passOver(failure: LegFailure): void;
  hasOther(): boolean;
}

export class ModelAttempt {
  readonly #retry: Ticket | undefined;
  readonly #place: Ticket;
  /** From the dial on. */
  #call: GuardedCall | undefined;
  #slot: StreamSlot | undefined;
  #isOver = false;

  /**
   * Calls `dial` when it is its turn; `passOver` instead, where the breaker is open by then, or all streams of the account at the
   * provider are in use, and `hasOther` says so.
   *
   * @param retry its share of the retry budget, where it is a second attempt
   */
  constructor(guarded: Guarded, shared: Attempts, retry: Ticket | undefined, calls: AttemptCalls) {
    this.#retry = retry;
    this.#place = shared.dials.enter(keyOf(guarded), () => {
      if (shared.breakers.isOpen(guarded) && calls.hasOther()) {
        calls.passOver(circuitOpen);
        return;
      }
      const slot = shared.slots?.take(guarded);
      if (slot === undefined) this.#dial(guarded, shared, calls);
      else
        slot.then(
          (taken) => this.#withSlot(taken, guarded, shared, calls),
          // A stream that could not be counted: the provider counts it as well.
          () => this.#isOver || this.#dial(guarded, shared, calls),
        );
    });
  }

  #withSlot(slot: StreamSlot | 'full', guarded: Guarded, shared: Attempts, calls: AttemptCalls): void {
    if (slot === 'full') {
      if (this.#isOver) return;
      // Of the last model the provider itself is asked: it may have ended a stream that is counted here still.
      if (calls.hasOther()) calls.passOver(streamsFull);
      else this.#dial(guarded, shared, calls);
    } else if (this.#isOver) slot.leave();
    else {
      this.#slot = slot;
      this.#dial(guarded, shared, calls);
    }
  }

  #dial(guarded: Guarded, shared: Attempts, calls: AttemptCalls): void {
    this.#call = new GuardedCall(guarded, shared, 'live');
    calls.dial();
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
    this.#over();
  }

  /** It is over, whatever came of it. */
  end(): void {
    this.#call?.end();
    this.#over();
  }

  #over(): void {
    this.#isOver = true;
    this.#slot?.leave();
    this.#slot = undefined;
    this.ready();
  }
}

/** One call of a model under its circuit breaker, which is told that it began and, once, what became of it. */
export class GuardedCall {
  readonly #guarded: Guarded;
  readonly #breakers: Breakers;
  readonly #measures: CallMeasures | undefined;
  readonly #mode: Mode;
  readonly #isProbe: boolean;
  #isTold = false;

  constructor(guarded: Guarded, { breakers, measures }: Pick<Attempts, 'breakers' | 'measures'>, mode: Mode) {
    this.#guarded = guarded;
    this.#breakers = breakers;
    this.#measures = measures;
    this.#mode = mode;
    this.#isProbe = breakers.begun(guarded);
  }

  /** The model has proved itself. @param hasWords false: it has answered without any */
  succeeded(hasWords = true): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#breakers.succeeded(this.#guarded);
    if (hasWords) this.#measure('good');
  }

  /** It has answered without a word, and another model has found some. */
  empty(): void {
    this.#measure('empty');
  }

  /** It came to nothing. What the caller can bring about, or is the gateway's own, says nothing of the provider. */
  failed(failure: LegFailure): void {
    if (failure.kind !== 'caller' && failure.kind !== 'empty' && failure.own === undefined) {
      this.#isTold = true;
      this.#breakers.failed(this.#guarded, failure);
      // A customer's own key that is refused says nothing of the model.
      const isOfKey = failure.kind === 'account' && this.#guarded.credentialId !== SERVICE_CREDENTIAL;
      if (!isOfKey) this.#measure('error');
    }
    this.end();
  }

  /** It is over, whatever came of it. */
  end(): void {
    if (this.#isProbe && !this.#isTold) this.#breakers.released(this.#guarded);
    this.#isTold = true;
  }

  #measure(outcome: Parameters<CallMeasures['outcome']>[2]): void {
    this.#measures?.outcome(this.#mode, this.#guarded.slug, outcome, this.#guarded.organisationId);
  }
}

/** A model has answered audio that has sound in it, and without a word: the next one is to hear it as well, once. */
export const noWords: LegFailure = {
  kind: 'empty',
  reason: 'empty_result',
  code: 'empty_result',
  message: 'The model found no words.',
};
