// A limited amount of something, counted by holder: an organisation, a key or a client's network. No holder gets so much that nothing
// is left for the next one: a single holder may have a share of the total, half of it by default. Of the rest, a second holder may have
// the same share, and so on, so a newcomer always finds room. A holder's amount may have a fixed limit as well.

/** Why there is none: the holder has as much as it may have, or the total is used up. */
export type Shortage = 'share' | 'full';

export class Quota {
  readonly max: number;
  /** What a holder may have for each unit that it leaves. */
  readonly #perFree: number;
  readonly #byHolder = new Map<string, number>();
  #used = 0;

  /** @param share what a single holder may have of `max`; 1: all of it */
  constructor(max = Number.POSITIVE_INFINITY, share = 1 / 2) {
    this.max = max;
    this.#perFree = share / (1 - share);
  }

  get used(): number {
    return this.#used;
  }

  usedBy(holder: string): number {
    return this.#byHolder.get(holder) ?? 0;
  }

  /**
   * Why the holder cannot have this much more; undefined if it can.
   *
   * @param holderMax the fixed limit of this holder
   */
  shortage(holder: string, amount = 1, holderMax = Number.POSITIVE_INFINITY): Shortage | undefined {
    const used = this.usedBy(holder);
    if (used + amount > holderMax) return 'share';
    const left = this.max - this.#used - amount;
    if (left < 0) return 'full';
    // The last unit is not measured, so that of a few units each holder can have one.
    return this.#perFree === Number.POSITIVE_INFINITY || used + amount - 1 <= this.#perFree * left
      ? undefined
      : 'share';
  }

  /** Takes this much, or returns why it cannot. */
  take(holder: string, amount = 1): Shortage | undefined {
    const shortage = this.shortage(holder, amount);
    if (shortage === undefined) this.count(holder, amount);
    return shortage;
  }

  /** Takes one unit. Returns the function that releases it, which may be called again without effect, or why there is none. */
  hold(holder: string, holderMax?: number): Shortage | (() => void) {
    const shortage = this.shortage(holder, 1, holderMax);
    if (shortage !== undefined) return shortage;
    this.count(holder, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.giveBack(holder);
      isHeld = false;
    };
  }

  /** Counts an amount whatever the limits say. */
  count(holder: string, amount: number): void {
    const own = this.usedBy(holder) + amount;
    if (own > 0) this.#byHolder.set(holder, own);
    else this.#byHolder.delete(holder);
    this.#used += amount;
  }

  giveBack(holder: string, amount = 1): void {
    this.count(holder, -amount);
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
  readonly #quota: Quota;
  /** In the order in which the organisations began to wait. */
  readonly #waiting = new Map<string, Set<Each>>();

  constructor(quota: Quota) {
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
