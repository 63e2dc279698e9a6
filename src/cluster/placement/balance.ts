// How many of its legs a node asks to move to others, when it has clearly more than its share. Pure; when it looks, and which of
// them it asks, is upstream/service/leg-balance.ts.

/** A node has clearly more than its share with so many times the mean, and so many more. */
const CLEARLY = 1.25;
const CLEARLY_MORE = 4;
/** A part of what is too much at a time, and never more than this: what the others have by then is known the next time. */
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
