// A resource that all organisations of a process share: so much of it at most, and no organisation has so much that nothing is left
// for the next one. One organisation alone may have a share, half as a rule. Of what it leaves, a second one may have the same share,
// and so on: however many came before, a newcomer finds room.

/** Why there is none: the organisation has its share, or there is not so much left for anybody. */
export type Shortage = 'share' | 'full';

export class FairQuota {
  readonly max: number;
  /** What an organisation may have for each unit that it leaves. */
  readonly #perFree: number;
  readonly #byOrganisation = new Map<string, number>();
  #used = 0;

  /** @param share what one organisation may have where it is alone; 1: all of it */
  constructor(max: number, share = 1 / 2) {
    this.max = max;
    this.#perFree = share / (1 - share);
  }

  get used(): number {
    return this.#used;
  }

  usedBy(organisationId: string): number {
    return this.#byOrganisation.get(organisationId) ?? 0;
  }

  /** Why the organisation cannot have so much more; undefined where it can. */
  shortage(organisationId: string, amount = 1): Shortage | undefined {
    const left = this.max - this.#used - amount;
    if (left < 0) return 'full';
    // The last unit is not measured, so that of a few units each organisation can have one.
    const own = this.usedBy(organisationId) + amount - 1;
    return this.#perFree === Number.POSITIVE_INFINITY || own <= this.#perFree * left ? undefined : 'share';
  }

  /** Takes so much, or says why not. */
  take(organisationId: string, amount = 1): Shortage | undefined {
    const shortage = this.shortage(organisationId, amount);
    if (shortage === undefined) this.count(organisationId, amount);
    return shortage;
  }

  /** Counts what is there in any case. */
  count(organisationId: string, amount: number): void {
    const own = this.usedBy(organisationId) + amount;
    if (own > 0) this.#byOrganisation.set(organisationId, own);
    else this.#byOrganisation.delete(organisationId);
    this.#used += amount;
  }

  giveBack(organisationId: string, amount = 1): void {
    this.count(organisationId, -amount);
  }
}

interface Waiter {
  readonly organisationId: string;
  /** It has a place now. */
  granted(): void;
}

/**
 * Waits for a shared resource: the next slot goes to the organisation that has fewest, and among its own requests to the oldest.
 */
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
