// Chooses a node for a leg: of the nodes with the smallest penalty, two are drawn at random and the one with fewer legs wins
// (power of two choices). Always taking the least loaded one would overload it until its next heartbeat. Pure.

export interface Candidate {
  node: string;
  /** Legs in its last heartbeat, and those that were sent there since. */
  legs: number;
  /** A node is only asked when no other has a smaller penalty. */
  against: number;
}

/** Penalties of a node; each outweighs all smaller ones together. */
export const AGAINST = {
  /** It has no room and would refuse. */
  short: 1,
  /** It failed to reach the provider lately. */
  failing: 2,
  /** It did not answer the last request. */
  silent: 4,
  /** The session has just left it, or lost its leg there. */
  left: 8,
  /** It drains. */
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
