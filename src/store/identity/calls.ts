// Which ledger a database holds, and how far it has come. Whether that is the one of the gateway is decided in
// src/cluster/ledger.
import { type Operations, reads, writes } from '../operation.ts';

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

export const IDENTITY_OPERATIONS = {
  findLedger: reads(),
  noteLedger: writes(),
  acceptLedger: writes(),
} as const satisfies Operations<IdentityCalls>;
