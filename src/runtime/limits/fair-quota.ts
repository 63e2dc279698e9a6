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
