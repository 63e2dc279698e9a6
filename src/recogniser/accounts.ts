// What each organisation has of the recogniser: its streams, the turn it had last, and the time of threads it has used up. Which
// piece of work is next is decided in thread-queue.ts.
import type { Clock } from '../../machines/clock.ts';
import { MinuteLimit } from '../runtime/minute-limit.ts';

/** One organisation, while it has streams or checks. Whoever is of the process itself has none, and no bound. */
export interface Account {
  readonly owner: string | undefined;
  streams: number;
  checks: number;
  /** The turn it had last: the smaller, the longer ago. */
  turn: number;
}

export interface AccountsOptions {
  clock: Pick<Clock, 'now'>;
  /** Time of threads that an organisation may use in a minute before it is slowed; without a limit when absent. */
  cpuMsPerMinuteMax?: number;
}

export class Accounts {
  readonly #cpuMsMax: number | undefined;
  readonly #spent: MinuteLimit;
  readonly #accounts = new Map<string | undefined, Account>();
  #turns = 0;

  constructor({ clock, cpuMsPerMinuteMax }: AccountsOptions) {
    this.#cpuMsMax = cpuMsPerMinuteMax;
    this.#spent = new MinuteLimit({ clock });
  }

  /** Whoever takes something on it calls `left` when that is over. */
  of(owner: string | undefined): Account {
    const known = this.#accounts.get(owner) ?? { owner, streams: 0, checks: 0, turn: 0 };
    this.#accounts.set(owner, known);
    return known;
  }

  /** One that has nothing here any more is forgotten; the time that it has used is not. */
  left(account: Account): void {
    if (account.streams + account.checks === 0) this.#accounts.delete(account.owner);
  }

  /** It had its turn: all others are before it now. */
  served(account: Account): number {
    account.turn = ++this.#turns;
    return account.turn;
  }

  spend({ owner }: Account, ms: number): void {
    if (owner !== undefined && this.#cpuMsMax !== undefined) this.#spent.charge(owner, ms, this.#cpuMsMax);
  }

  /** Milliseconds until it has time again; 0 while it has. */
  waitMs({ owner }: Account): number {
    return owner === undefined ? 0 : this.#spent.waitMs(owner);
  }
}
