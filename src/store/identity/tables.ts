// The identity of an open database: read, and brought forward as something is written or a person says that it counts.

import { StoreError } from '../store-error.ts';
import type { TableContext } from '../table-context.ts';
import type { IdentityCalls, LedgerIdentity } from './calls.ts';

const LEDGER = /^led_[0-9a-f]{24}$/;

/** A database that was restored counts from now on, however much newer the one before it was. */
export interface Restored {
  renewGeneration(): void;
}

export function createIdentityTables({
  database,
  nowMs,
}: Pick<TableContext, 'database' | 'nowMs'>): IdentityCalls & Restored {
  const find = database.prepare<[], LedgerIdentity>('SELECT id, generation, replaces, sequence FROM ledger_identity');
  const advance = database.prepare('UPDATE ledger_identity SET sequence = sequence + 1');
  const renew = database.prepare<[number]>('UPDATE ledger_identity SET generation = max(generation + 1, ?)');
  const replace = database.prepare<[string]>('UPDATE ledger_identity SET replaces = ?');
  // What this connection has changed, and whether another one has.
  const changes = database.prepare<[], number>('SELECT total_changes()').pluck();
  const others = database.prepare<[], number>('PRAGMA data_version').pluck();
  const seen = (): string => `${changes.get()} ${others.get()}`;
  const identity = () => find.get() as LedgerIdentity;
  let noted: string | undefined;

  return {
    findLedger: identity,
    noteLedger() {
      if (seen() !== noted) advance.run();
      noted = seen();
      return identity();
    },
    acceptLedger(inPlaceOf) {
      if (!LEDGER.test(inPlaceOf))
        throw new StoreError('invalid', 'A ledger is `led_` and 24 small hexadecimal digits.');
      if (inPlaceOf !== identity().id) replace.run(inPlaceOf);
      renew.run(nowMs());
      return identity();
    },
    renewGeneration: () => void renew.run(nowMs()),
  };
}
