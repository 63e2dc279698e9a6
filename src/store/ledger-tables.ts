// The ledger on an open database, put together. Nothing is written when it is made, so it also serves a file that may only be read.
import { createLedgerAudit } from './ledger-audit.ts';
import { backUp } from './ledger-backup.ts';
import type { Leases, LedgerCalls } from './ledger-calls.ts';
import { createLedgerCharges } from './ledger-charges.ts';
import { createLedgerHolds } from './ledger-holds.ts';
import { createLedgerLost } from './ledger-lost.ts';
import { createLedgerPostings } from './ledger-postings.ts';
import { createLedgerRecords } from './ledger-records.ts';
import { createLedgerReports } from './ledger-reports.ts';
import { createLedgerSessions } from './ledger-sessions.ts';
import { createLedgerTransfers } from './ledger-transfers.ts';
import type { TableContext } from './table-context.ts';

export type { Leases };

export function createLedgerTables(context: TableContext): LedgerCalls & Leases {
  const transfers = createLedgerTransfers(context);
  const postings = createLedgerPostings(context, transfers);
  const holds = createLedgerHolds(context, transfers);
  const { recordOf, ...records } = createLedgerRecords(context);
  return {
    ...createLedgerSessions(context, { transfers, postings, holds, charges: createLedgerCharges(context), recordOf }),
    ...records,
    ...createLedgerReports(context, transfers),
    ...createLedgerAudit(context),
    ...createLedgerLost(context, holds),
    addCredit: transfers.addCredit,
    balanceOf: transfers.balanceOf,
    expireHolds: holds.expireHolds,
    nextLeaseEndMs: holds.nextLeaseEndMs,
    backup: (file) => backUp(context.database, file),
  };
}
