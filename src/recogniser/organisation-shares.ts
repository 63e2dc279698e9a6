// What each organisation has of the recogniser: its streams, the turn it had last, and the time of threads it has used up. Which
// piece of work is next is decided in thread-queue.ts.
import type { Clock } from '../../machines/clock.ts';
import { MinuteLimit } from '../runtime/minute-limit.ts';

/** One organisation, while it has streams or checks. Whoever is of the process itself has none, and no bound. */
export interface OrganisationShare {
  readonly owner: string | undefined;
  streams: number;
  checks: number;
  /** The turn it had last: the smaller, the longer ago. */
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

  /** Whoever takes something on it calls `left` when that is over. */
  of(owner: string | undefined): OrganisationShare {
    const known = this.#shares.get(owner) ?? { owner, streams: 0, checks: 0, turn: 0 };
    this.#shares.set(owner, known);
    return known;
  }

  /** One that has nothing here any more is forgotten; the time that it has used is not. */
  left(share: OrganisationShare): void {
    if (share.streams + share.checks === 0) this.#shares.delete(share.owner);
  }

  /** It had its turn: all others are before it now. */
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
