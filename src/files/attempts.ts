// The attempts at one file: which model of the chain has its turn, and what has failed. What comes after a failure is decided in
// machines/failover/decision.ts, as for live sessions.
import type { LegFailure } from '../../machines/events.ts';
import {
  carriedOut,
  decide,
  FILE_LIMITS,
  FILE_POLICY,
  firstCandidate,
  hasPause,
  type Incident,
  noIncident,
  pauseMs,
  withFailure,
} from '../../machines/failover/decision.ts';
import { judged } from '../live/failover/blame.ts';
import type { Breakers } from '../live/failover/breakers/breakers.ts';
import type { ChainMember } from '../live/failover/chain.ts';
import { ownKeyFailure } from '../live/failover/chain-credential.ts';
import type { FailedAttempt } from './failures.ts';

export class Attempts {
  /** In their order. */
  readonly failed: FailedAttempt[] = [];
  readonly #chain: readonly ChainMember[];
  readonly #breakers: Pick<Breakers, 'openIn'>;
  #incident: Incident;

  /** @param chain not empty */
  constructor(chain: readonly ChainMember[], breakers: Pick<Breakers, 'openIn'>) {
    this.#chain = chain;
    this.#breakers = breakers;
    this.#incident = noIncident(chain.length, firstCandidate(chain.length, breakers.openIn(chain)), FILE_LIMITS);
  }

  /** The model that has its turn. */
  get member(): ChainMember {
    return this.#chain[this.#incident.index] as ChainMember;
  }

  /** Whether every other model of the chain has failed. */
  get isLast(): boolean {
    const { index, tried } = this.#incident;
    return this.#chain.every((_, member) => member === index || tried.includes(member));
  }

  /** The model has failed. Gives the pause before the next has its turn; undefined when nothing is left to try. */
  next(told: LegFailure): number | undefined {
    const failure = judged(told, this.member);
    const ownKey = ownKeyFailure(this.member, failure);
    this.failed.push({ model: this.member.slug, failure: ownKey === undefined ? failure : { ...failure, ownKey } });
    const { kind, retryAfterMs = 0, own = false } = failure;
    const open = this.#breakers.openIn(this.#chain);
    const said = { kind, open, retryAfterMs, own, lasting: failure.lasting === true, wasReady: false };
    const incident = withFailure(this.#incident, { ...said, mayRetry: true, elapsedMs: 0 });
    const decision = decide(incident, FILE_POLICY);
    if (decision === 'refused' || decision === 'exhausted') return undefined;
    this.#incident = carriedOut(incident, decision);
    return hasPause(decision) ? pauseMs(incident, FILE_POLICY) : 0;
  }
}
