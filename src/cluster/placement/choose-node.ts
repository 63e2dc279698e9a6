// Which of the nodes that can open a leg is asked for it: one that nothing speaks against, and of two of those at random the one
// that has fewer legs. Always the one with the fewest would have all of them, until it says how many it has. Pure.

export interface Candidate {
  node: string;
  /** Legs that it has, and those that were sent there since it said so. */
  legs: number;
  /** What speaks against it: it is asked only where there is none with less. */
  against: number;
}

/** What speaks against a node, worse than all before it together. */
export const AGAINST = {
  /** It has no room for more, and will say so. */
  short: 1,
  /** It could not reach the provider of late. */
  failing: 2,
  /** It did not answer when it was asked last. */
  silent: 4,
  /** The session has just left it, or lost its leg there. */
  left: 8,
  /** It is going away. */
  draining: 16,
} as const;

export function chooseNode(candidates: readonly Candidate[], random: () => number): string | undefined {
  const least = Math.min(...candidates.map(({ against }) => against));
  const best = candidates.filter(({ against }) => against === least);
  const first = Math.floor(random() * best.length);
  const one = best[first];
  const other = best[(first + 1 + Math.floor(random() * (best.length - 1))) % best.length];
  return one !== undefined && other !== undefined && other.legs < one.legs ? other.node : one?.node;
}
