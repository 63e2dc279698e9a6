// The clock of the node that keeps the accounts, as a caller knows it from its answers. Deadlines are sent on that clock, so the
// clocks of two nodes are never compared.

export class OwnerClock {
  /** How far the owner's clock is ahead, at least. Undefined while the owner has not reported it. */
  #aheadMs: number | undefined;

  /** An answer says what the owner's clock shows; anything else is ignored. */
  learn(ownerMs: unknown, nowMs: number): void {
    if (typeof ownerMs === 'number' && Number.isFinite(ownerMs)) this.#aheadMs = ownerMs - nowMs;
  }

  /** That time of this node on the owner's clock. The answer took some time to arrive, so it is rather too early than too late. */
  at(ms: number): number | undefined {
    return this.#aheadMs === undefined ? undefined : ms + this.#aheadMs;
  }
}
