// Who may write to the database where several nodes could: the fencing revision of its owner. How a node becomes the owner is
// decided in src/cluster.
import { type Operations, reads, writes } from '../operation.ts';

export interface OwnershipClaim {
  shard: string;
  /** Of the lease under which it was claimed. */
  revision: number;
  /** The node that claimed it, as its operator calls it. */
  holder: string;
  /** ISO 8601 UTC of the claim. */
  at: string;
}

export interface OwnershipCalls {
  /**
   * From now on this process writes as the owner with that revision, and everything it writes is refused as `superseded` once
   * another process has claimed the database with a higher one. A process that claims nothing is not held back.
   *
   * @throws StoreError `superseded` when a higher revision was here, or the same one of another holder; `conflict` when the
   * database is that of another shard
   */
  claimOwnership(shard: string, revision: number, holder: string): void;
  /** The last claim; undefined when there was none. */
  findOwnership(): OwnershipClaim | undefined;
}

export const OWNERSHIP_OPERATIONS = {
  claimOwnership: writes(),
  findOwnership: reads(),
} as const satisfies Operations<OwnershipCalls>;
