// How many legs a node asks to move away when it has clearly more than its share. Pure; upstream/service/leg-balance.ts calls it.

/** A node is overloaded with this many times the mean, and at least this many more. */
const CLEARLY = 1.25;
const CLEARLY_MORE = 4;
/** The part of the excess that moves at a time, and its maximum; the next round sees the effect. */
const PART = 1 / 4;
const MOVED_MAX = 20;

/**
 * @param own legs here that were not asked to move
 * @param leaving those that were, and are still here
 * @param others legs of each other node that takes more
 */
export function legsToMove(own: number, leaving: number, others: readonly number[]): number {
  const mean = others.reduce((sum, legs) => sum + legs, own + leaving) / (others.length + 1);
  const surplus = own - mean;
  if (surplus < CLEARLY_MORE || own < mean * CLEARLY) return 0;
  return Math.min(MOVED_MAX, Math.ceil(surplus * PART));
}
