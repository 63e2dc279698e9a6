// Who may write to the database where several nodes could: the fencing revision of its owner. How a node becomes the owner is
// decided in src/cluster.
import { type Operations, reads, writes } from './operation.ts';
import { StoreError } from './store-error.ts';
import type { TableContext } from './table-context.ts';

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

export interface OwnershipGuard {
  /** Throws StoreError `superseded` when this process has claimed the database, and another one has since. */
  requireOwnership(): void;
}

export function createOwnershipTables({
  database,
  nowText,
}: Pick<TableContext, 'database' | 'nowText'>): OwnershipCalls & OwnershipGuard {
  const find = database.prepare<[], OwnershipClaim>('SELECT shard, revision, holder, at FROM ownership');
  const keep = database.prepare<[string, number, string, string]>(
    `INSERT INTO ownership (number, shard, revision, holder, at) VALUES (1, ?, ?, ?, ?)
     ON CONFLICT (number) DO UPDATE SET revision = excluded.revision, holder = excluded.holder, at = excluded.at`,
  );
  const higher = database.prepare<[number], OwnershipClaim>(
    'SELECT shard, revision, holder, at FROM ownership WHERE revision > ?',
  );
  let claimed: number | undefined;

  const claim = database.transaction((shard: string, revision: number, holder: string): void => {
    const last = find.get();
    if (last !== undefined && last.shard !== shard) {
      throw new StoreError('conflict', `The database keeps the accounts of shard ${last.shard}, not ${shard}.`);
    }
    if (last !== undefined && last.revision >= revision) {
      if (last.revision > revision || last.holder !== holder) throw superseded(last, revision);
      return;
    }
    keep.run(shard, revision, holder, nowText());
  });

  return {
    claimOwnership(shard, revision, holder) {
      claim.immediate(shard, revision, holder);
      // Should the commit fail after this, the database has a lower one, and nothing is refused that was not before.
      claimed = revision;
    },
    findOwnership: () => find.get(),
    requireOwnership() {
      if (claimed === undefined) return;
      const last = higher.get(claimed);
      if (last !== undefined) throw superseded(last, claimed);
    },
  };
}

function superseded({ holder, at, revision: last }: OwnershipClaim, revision: number): StoreError {
  return new StoreError(
    'superseded',
    `The database belongs to the node "${holder}" since ${at} (revision ${last}; this one came with ${revision}): it takes nothing from anybody else.`,
  );
}
