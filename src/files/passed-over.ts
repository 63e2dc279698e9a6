// Models that were sent a file and are not charged for it: those that failed at it, and those that found no words in it where another one
// answered. Their providers may bill them.
import type { LegFailure } from '../../machines/events.ts';
import type { ResolvedCandidate } from '../live/failover/chain.ts';

export interface PassedOver {
  member: ResolvedCandidate;
  /** `failed`: it has answered, without words. `attempt`: it failed. */
  reason: 'failed' | 'attempt';
  /** Of a part; of the file where absent. */
  seconds?: number;
}

/** What a provider refuses for the request, the key or its own load is refused before it transcribes. */
const REFUSED = /^http_4\d\d$/;

export class PassedOvers {
  readonly #failed: PassedOver[] = [];
  readonly #empty: ResolvedCandidate[] = [];

  failed(member: ResolvedCandidate, { kind, reason, code, own }: LegFailure): void {
    const wasSent = reason === 'upstream_closed' || reason === 'upstream_error' || reason === 'stalled';
    const mayBeBilled = (kind === 'retry' || kind === 'next') && !REFUSED.test(code);
    if (wasSent && own !== true && mayBeBilled) this.#failed.push({ member, reason: 'attempt' });
  }

  empty(member: ResolvedCandidate): void {
    this.#empty.push(member);
  }

  /** The outcome, with those that are not charged for it. */
  of<Outcome extends { member: ResolvedCandidate; passedOver?: readonly PassedOver[] }>(outcome: Outcome): Outcome {
    const empty = this.#empty.filter((member) => member !== outcome.member);
    const all: PassedOver[] = [...this.#failed, ...empty.map((member) => ({ member, reason: 'failed' as const }))];
    return all.length === 0 ? outcome : { ...outcome, passedOver: [...all, ...(outcome.passedOver ?? [])] };
  }
}
