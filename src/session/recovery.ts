// What a session does about a failed leg, beside its charts: it asks the breakers and the node's budget what is possible now,
// and opens the leg that was chosen. Which one that is, the failover chart decides.

import type { LegFailure } from '../../machines/events.ts';
import { firstCandidate, mayPass, SESSION_POLICY } from '../../machines/failover/decision.ts';
import type { Ticket } from '../failover/admission.ts';
import { judged } from '../failover/blame.ts';
import { type ChainMember, timingOf } from '../failover/chain.ts';
import { ownKeyFailure } from '../failover/chain-credential.ts';
import type { Charts } from './charts.ts';
import type { CurrentLeg } from './leg/current-leg.ts';
import { LegHistory } from './leg/leg-history.ts';
import type { SessionDependencies } from './session-dependencies.ts';
import type { SessionOpening } from './session-opening.ts';

export class Recovery {
  readonly #opening: SessionOpening;
  readonly #dependencies: SessionDependencies;
  readonly #charts: Charts;
  readonly #leg: CurrentLeg;
  /** The member whose failure was decided last, until a leg has held. */
  #failedIndex: number | undefined;
  /** A share of the node's retry budget, between the failure and the next attempt. */
  #retry: Ticket | undefined;
  /** The member that has, or had, the leg. */
  #index = 0;
  /** Members that were ready once. */
  readonly #accepting = new Set<number>();
  /** What the customer is to hear of its own key that was refused, until a leg has held. */
  #ownKey: string | undefined;
  readonly legs = new LegHistory();

  constructor(opening: SessionOpening, dependencies: SessionDependencies, charts: Charts, leg: CurrentLeg) {
    this.#opening = opening;
    this.#dependencies = dependencies;
    this.#charts = charts;
    this.#leg = leg;
  }

  /** The member to begin with. */
  first(): number {
    const { chain } = this.#opening;
    return firstCandidate(chain.length, this.#dependencies.attempts.breakers.openIn(chain));
  }

  /** Whether a model behind this one could take over now. */
  get hasNext(): boolean {
    const { breakers } = this.#dependencies.attempts;
    return this.#opening.chain.some(
      (member, at) => at > this.#index && this.#charts.mayTry(at) && !breakers.isOpen(member),
    );
  }

  openLeg(index: number, generation: number): void {
    const { chain, request } = this.#opening;
    const { access, attempts } = this.#dependencies;
    const member = chain[index] as ChainMember;
    this.#index = index;
    this.legs.opened(member.slug);
    const retry = this.#retry;
    this.#retry = undefined;
    // The share was taken for the member that failed; another one is no second attempt.
    if (this.#failedIndex !== index) retry?.release();
    this.#leg.open(member, timingOf(member, request, access), generation, {
      retry: this.#failedIndex === index ? retry : undefined,
      hasOther: () =>
        chain.some((other, at) => at !== index && this.#charts.mayTry(at) && !attempts.breakers.isOpen(other)),
    });
  }

  /** The leg is ready: the request was good enough for its provider. */
  ready(): void {
    this.#accepting.add(this.#index);
    this.legs.became('streaming');
  }

  /**
   * What comes of the failure. Where the customer's own key was refused, it is to hear of that when nothing else is left.
   */
  judge(told: LegFailure): LegFailure {
    this.legs.became(told.reason);
    const member = this.#opening.chain[this.#index] as ChainMember;
    const others = [...this.#accepting].some((index) => index !== this.#index);
    const failure = judged(told, member, others);
    this.#ownKey = ownKeyFailure(member, failure) ?? this.#ownKey;
    return this.#ownKey === undefined || failure.kind === 'caller' ? failure : { ...failure, ownKey: this.#ownKey };
  }

  /** The leg of that member has failed. */
  decide(index: number, failure: LegFailure | null): void {
    const { breakers, retries } = this.#dependencies.attempts;
    const { kind = 'next', retryAfterMs = 0, own = false } = failure ?? {};
    this.#failedIndex = index;
    const open = breakers.openIn(this.#opening.chain);
    const mayRetry = retries.hasRoom;
    this.#retry?.release();
    // What was lost inside the gateway is no second attempt at the provider.
    const isSecondAttempt = !own && mayPass({ kind, index, open, retryAfterMs }, SESSION_POLICY);
    this.#retry = isSecondAttempt && mayRetry ? retries.take() : undefined;
    this.#charts.tellFailover({
      type: 'attempt.failed',
      kind,
      open,
      mayRetry,
      retryAfterMs,
      own,
    });
  }

  /** The leg works: what went wrong before is over. */
  held(): void {
    this.#failedIndex = undefined;
    this.#ownKey = undefined;
    this.#leg.held();
    this.#charts.tellFailover({ type: 'attempt.held' });
  }

  end(): void {
    this.#retry?.release();
  }
}
