// The ledger on an open database, put together. Nothing is written when it is made, so it also serves a file that may only be read.

import type { TableContext } from '../../store/table-context.ts';
import { createLedgerAudit } from './audit/audit.ts';
import { backUp } from './backup.ts';
import type { Leases, LedgerCalls } from './calls.ts';
import { createLedgerCharges } from './charges.ts';
import { createLedgerHolds } from './holds.ts';
import { createLedgerLost } from './lost.ts';
import { createLedgerPostings } from './postings.ts';
import { createLedgerRecords } from './records.ts';
import { createLedgerReports } from './reports.ts';
import { createSessionSearch } from './search.ts';
import { createLedgerSessions } from './sessions.ts';
import { createLedgerTransfers } from './transfers.ts';

export type { Leases };

export function createLedgerTables(context: TableContext): LedgerCalls & Leases {
  const transfers = createLedgerTransfers(context);
  const postings = createLedgerPostings(context, transfers);
  const holds = createLedgerHolds(context, transfers);
  const { recordOf, ...records } = createLedgerRecords(context);
  return {
    ...createLedgerSessions(context, { transfers, postings, holds, charges: createLedgerCharges(context), recordOf }),
    ...records,
    ...createSessionSearch(context, { recordOf }),
    ...createLedgerReports(context, transfers),
    ...createLedgerAudit(context),
    ...createLedgerLost(context, holds),
    addCredit: transfers.addCredit,
    balanceOf: transfers.balanceOf,
    expireHolds: holds.expireHolds,
    endHolds: holds.endHolds,
    nextLeaseEndMs: holds.nextLeaseEndMs,
    backup: (file) => backUp(context.database, file),
  };
}
