// Which ledger a database holds, and how far it has come. Whether that is the one of the gateway is decided in
// src/cluster/known-ledger.ts.
import { type Asynchronous, type Operations, reads, writes } from './operation.ts';
import { StoreError } from './store-error.ts';
import type { TableContext } from './table-context.ts';

export interface LedgerIdentity {
  /** `led_…`, made up with the database; a copy of it has the same. */
  id: string;
  /** Grows each time that a person put this content in force: 1, then the milliseconds at which that was done. */
  generation: number;
  /** The ledger that a person let this one take the place of. */
  replaces: string | null;
  /** Grows with what is written; of two copies of one generation the higher one is the newer. */
  sequence: number;
}

export interface IdentityCalls {
  findLedger(): LedgerIdentity;
  /** The identity, with a higher sequence when anything was written since it was noted last. It is on the disk when it is answered. */
  noteLedger(): LedgerIdentity;
  /** Lets this database take the place of that ledger, or its content that of a newer copy where the id is its own. Throws `invalid`. */
  acceptLedger(inPlaceOf: string): LedgerIdentity;
}

export type IdentityStore = Asynchronous<IdentityCalls>;

export const IDENTITY_OPERATIONS = {
  findLedger: reads(),
  noteLedger: writes(),
  acceptLedger: writes(),
} as const satisfies Operations<IdentityCalls>;

const LEDGER = /^led_[0-9a-f]{24}$/;

/** The mark that makes the next `noteLedger` advance the sequence. */
export interface WrittenMark {
  /** The number of rows changed by this connection. */
  changes(): number;
  /** Call it in the commit that changed rows. */
  markWritten(): void;
}

/** A database that was restored counts from now on, however much newer the one before it was. */
export interface Restored {
  renewGeneration(): void;
}

export function createIdentityTables({
  database,
  nowMs,
}: Pick<TableContext, 'database' | 'nowMs'>): IdentityCalls & WrittenMark & Restored {
  const find = database.prepare<[], LedgerIdentity>('SELECT id, generation, replaces, sequence FROM ledger_identity');
  const advance = database.prepare('UPDATE ledger_identity SET sequence = sequence + 1, written = 0 WHERE written = 1');
  const mark = database.prepare('UPDATE ledger_identity SET written = 1 WHERE written = 0');
  const renew = database.prepare<[number]>('UPDATE ledger_identity SET generation = max(generation + 1, ?)');
  const replace = database.prepare<[string]>('UPDATE ledger_identity SET replaces = ?');
  const changes = database.prepare<[], number>('SELECT total_changes()').pluck();
  const identity = () => find.get() as LedgerIdentity;

  return {
    findLedger: identity,
    noteLedger() {
      advance.run();
      return identity();
    },
    acceptLedger(inPlaceOf) {
      if (!LEDGER.test(inPlaceOf))
        throw new StoreError('invalid', 'A ledger is `led_` and 24 small hexadecimal digits.');
      if (inPlaceOf !== identity().id) replace.run(inPlaceOf);
      renew.run(nowMs());
      return identity();
    },
    changes: () => changes.get()!,
    markWritten: () => void mark.run(),
    renewGeneration: () => void renew.run(nowMs()),
  };
}
