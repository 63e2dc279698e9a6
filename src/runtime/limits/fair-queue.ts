// Places of a shared resource for which one waits: the next one goes to the organisation that has fewest of them, and among its own
// requests to the oldest.
import type { FairQuota } from './fair-quota.ts';

export interface Waiter {
  readonly organisationId: string;
  /** It has a place now. */
  granted(): void;
}

export class FairQueue<Each extends Waiter = Waiter> {
  readonly #quota: FairQuota;
  /** In the order in which the organisations began to wait. */
  readonly #waiting = new Map<string, Set<Each>>();

  constructor(quota: FairQuota) {
    this.#quota = quota;
  }

  get waiting(): number {
    let count = 0;
    for (const waiters of this.#waiting.values()) count += waiters.size;
    return count;
  }

  /** Nobody has a place or waits for one. */
  get isIdle(): boolean {
    return this.#quota.used === 0 && this.#waiting.size === 0;
  }

  /** Whether there is a place at once; where there is none, `granted` is called as soon as there is. */
  enter(waiter: Each): boolean {
    const { organisationId } = waiter;
    if (this.#quota.take(organisationId) === undefined) return true;
    const own = this.#waiting.get(organisationId);
    if (own === undefined) this.#waiting.set(organisationId, new Set([waiter]));
    else own.add(waiter);
    return false;
  }

  /** Gives up a place, or the wait for one. Once. */
  leave(waiter: Each): void {
    if (this.#stopWaiting(waiter)) return;
    this.#quota.giveBack(waiter.organisationId);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#stopWaiting(next);
      next.granted();
    }
  }

  #stopWaiting(waiter: Each): boolean {
    const own = this.#waiting.get(waiter.organisationId);
    if (own === undefined || !own.delete(waiter)) return false;
    if (own.size === 0) this.#waiting.delete(waiter.organisationId);
    return true;
  }

  /** Takes a place for the one that has waited longest, of the organisation that has fewest. */
  #next(): Each | undefined {
    let chosen: string | undefined;
    for (const organisationId of this.#waiting.keys()) {
      if (this.#quota.shortage(organisationId) !== undefined) continue;
      if (chosen === undefined || this.#quota.usedBy(organisationId) < this.#quota.usedBy(chosen))
        chosen = organisationId;
    }
    if (chosen === undefined) return undefined;
    this.#quota.take(chosen);
    return this.#waiting.get(chosen)?.values().next().value;
  }
}
