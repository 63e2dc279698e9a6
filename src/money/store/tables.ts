// The ledger on an open database, put together. Nothing is written when it is made, so it also serves a file that may only be read.

import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { CeilingCounters } from '../../accounts/keys/ceilings.ts';
import { keepDatabase } from '../../store/keep-database.ts';
import { StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import { createLedgerAudit } from './audit/audit.ts';
import type { Leases, LedgerCalls } from './calls.ts';
import { createLedgerCeilings, gatewayCeilings } from './ceilings.ts';
import { createLedgerHolds } from './holds.ts';
import { createLegUsage } from './leg-usage.ts';
import { createLedgerLost } from './lost.ts';
import { createOwnHolds } from './own-holds.ts';
import { createLedgerCharges, createLedgerPostings } from './postings.ts';
import { createLedgerRecords, createSessionSearch } from './records.ts';
import { createLedgerReports } from './reports.ts';
import { createLedgerSessions } from './sessions.ts';
import { createLedgerTransfers } from './transfers.ts';

export type { Leases };

export function createLedgerTables(context: TableContext): LedgerCalls & Leases & CeilingCounters {
  const transfers = createLedgerTransfers(context);
  const postings = createLedgerPostings(context, transfers);
  const ceilings = createLedgerCeilings(context);
  const holds = createLedgerHolds(context, transfers, ceilings);
  const ownHolds = createOwnHolds(context, ceilings);
  const { recordOf, plainRecordOf, ...records } = createLedgerRecords(context);
  const legUsage = createLegUsage(context);
  return {
    ...createLedgerSessions(context, {
      transfers,
      postings,
      holds,
      ownHolds,
      charges: createLedgerCharges(context),
      ceilings,
      legUsage,
      recordOf,
      plainRecordOf,
    }),
    ...records,
    ...{ legUsageOf: legUsage.legUsageOf, chargedUsageOf: legUsage.chargedUsageOf },
    ...createSessionSearch(context, { recordOf }),
    ...createLedgerReports(context, transfers),
    ...createLedgerAudit(context),
    ...createLedgerLost(context, holds, ownHolds),
    replaceCeilings: ceilings.replace,
    setGatewayCeilings: gatewayCeilings(context, ceilings),
    addCredit: transfers.addCredit,
    balanceOf: transfers.balanceOf,
    expireHolds: () => holds.expireHolds() + ownHolds.expire(),
    endHolds: (madeUntilMs) => holds.endHolds(madeUntilMs) + ownHolds.endMadeUntil(madeUntilMs),
    nextLeaseEndMs(nowMs) {
      const [paid, own] = [holds.nextLeaseEndMs(nowMs), ownHolds.nextLeaseEndMs(nowMs)];
      return paid === undefined || own === undefined ? (paid ?? own) : Math.min(paid, own);
    },
    backup: (file) => backUp(context.database, file),
  };
}

// Copies the database, whole and consistent, to a file that is not there yet.
/** @throws StoreError `invalid` when the file is there already or cannot be made */
export function backUp(database: Database.Database, file: string): { pages: number } {
  make(file);
  try {
    // A connection of its own: the calls that share a commit with this one are in a transaction, which cannot be copied.
    const source = keepDatabase(new Database(database.name, { readonly: true }));
    try {
      source.prepare('VACUUM INTO ?').run(file);
    } finally {
      source.close();
    }
    return { pages: finish(file) };
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

/** Makes the file for this user alone, empty. Fails if another process made it first. */
function make(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    const why =
      code === 'EEXIST'
        ? 'is there already: name one that is not, or move it away.'
        : `cannot be made (${code}): name one in a directory that this user may write.`;
    throw new StoreError('invalid', `The file ${JSON.stringify(file)} ${why}`);
  }
}

/** Looks at what was written and brings it to the disk. Returns its pages. */
function finish(file: string): number {
  const copy = keepDatabase(new Database(file, { readonly: true }));
  const pages = Number(copy.pragma('page_count', { simple: true }));
  copy.close();
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
  return pages;
}
