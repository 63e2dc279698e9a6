// Fair sharing of the recogniser between organisations: their streams, when each was served last, and the thread time used. Which
// piece of work is next is decided in thread-queue.ts.
import type { Clock } from '../../machines/clock.ts';
import { MinuteLimit } from '../runtime/limits/minute-limit.ts';

/** One organisation, while it has streams or checks. The process's own streams have no owner and no limit. */
export interface OrganisationShare {
  readonly owner: string | undefined;
  streams: number;
  checks: number;
  /** When it was served last: a counter over all organisations. */
  turn: number;
}

export interface OrganisationSharesOptions {
  clock: Pick<Clock, 'now'>;
  /** Time of threads that an organisation may use in a minute before it is slowed; without a limit when absent. */
  cpuMsPerMinuteMax?: number;
}

export class OrganisationShares {
  readonly #cpuMsMax: number | undefined;
  readonly #spent: MinuteLimit;
  readonly #shares = new Map<string | undefined, OrganisationShare>();
  #turns = 0;

  constructor({ clock, cpuMsPerMinuteMax }: OrganisationSharesOptions) {
    this.#cpuMsMax = cpuMsPerMinuteMax;
    this.#spent = new MinuteLimit({ clock });
  }

  /** A caller that adds a stream or check calls `left` when it is over. */
  of(owner: string | undefined): OrganisationShare {
    const known = this.#shares.get(owner) ?? { owner, streams: 0, checks: 0, turn: 0 };
    this.#shares.set(owner, known);
    return known;
  }

  /** Forgets an organisation without streams and checks, but not the time it has used. */
  left(share: OrganisationShare): void {
    if (share.streams + share.checks === 0) this.#shares.delete(share.owner);
  }

  /** It was served: all others come before it now. */
  served(share: OrganisationShare): number {
    share.turn = ++this.#turns;
    return share.turn;
  }

  spend({ owner }: OrganisationShare, ms: number): void {
    if (owner !== undefined && this.#cpuMsMax !== undefined) this.#spent.charge(owner, ms, this.#cpuMsMax);
  }

  /** Milliseconds until it has time again; 0 while it has. */
  waitMs({ owner }: OrganisationShare): number {
    return owner === undefined ? 0 : this.#spent.waitMs(owner);
  }
}
