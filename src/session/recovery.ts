// What a session does about a failed leg, beside its charts: it asks the breakers and the node's budget what is possible now,
// and opens the leg that was chosen. Which one that is, the failover chart decides.

import type { LegFailure } from '../../machines/events.ts';
import { firstCandidate } from '../../machines/failover.ts';
import { type ChainMember, timingOf } from './chain.ts';
import type { Charts } from './charts.ts';
import type { SessionDependencies } from './host.ts';
import type { LegLink } from './leg-link.ts';
import type { SessionOpening } from './session.ts';

/** A provider that asks for more time than this is not tried again at once. */
const RETRY_AFTER_MS_MAX = 1_000;

export class Recovery {
  private readonly opening: SessionOpening;
  private readonly dependencies: SessionDependencies;
  private readonly charts: Charts;
  private readonly leg: LegLink;
  /** The member whose failure was decided last, until a leg has held. */
  private failedIndex: number | undefined;

  constructor(opening: SessionOpening, dependencies: SessionDependencies, charts: Charts, leg: LegLink) {
    this.opening = opening;
    this.dependencies = dependencies;
    this.charts = charts;
    this.leg = leg;
  }

  /** The member to begin with. */
  first(): number {
    const { chain } = this.opening;
    return firstCandidate(chain.length, this.dependencies.attempts.breakers.openIn(chain));
  }

  openLeg(index: number, generation: number): void {
    const member = this.opening.chain[index] as ChainMember;
    const timing = timingOf(member, this.opening.request, this.dependencies.access);
    this.leg.open(member, timing, generation, this.failedIndex === index);
  }

  /** The leg of that member has failed. */
  decide(index: number, failure: LegFailure | null): void {
    const { breakers, retries } = this.dependencies.attempts;
    this.failedIndex = index;
    const open = breakers.openIn(this.opening.chain);
    const asksForTime = (failure?.retryAfterMs ?? 0) > RETRY_AFTER_MS_MAX;
    this.charts.tellFailover({
      type: 'attempt.failed',
      kind: failure?.kind ?? 'next',
      open,
      mayRetry: retries.hasRoom && !open.includes(index) && !asksForTime,
    });
  }

  /** The leg works: what went wrong before is over. */
  held(): void {
    this.failedIndex = undefined;
    this.leg.held();
    this.charts.tellFailover({ type: 'attempt.held' });
  }
}
