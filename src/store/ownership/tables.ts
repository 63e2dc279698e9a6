// The owner of an open database: a lower revision is refused, so that a former owner cannot write any more.

import { StoreError } from '../store-error.ts';
import type { TableContext } from '../table-context.ts';
import type { OwnershipCalls, OwnershipClaim } from './calls.ts';

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
