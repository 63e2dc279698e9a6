// A checked copy of a database that a gateway uses, made on connections of its own: the thread that owns the file continues meanwhile.
import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { LedgerAudit } from '../../money/store/calls.ts';
import { backUp } from '../../money/store/tables.ts';
import { keepDatabase } from '../../store/keep-database.ts';
import { checkCopy } from './restore.ts';

export interface DatabaseCopy {
  /** `led_…` */
  ledger: string;
  audit: LedgerAudit;
}

/**
 * Writes a copy to a new file, opens it and audits its ledger. Nothing is left behind when it fails.
 *
 * @throws StoreError with a sentence for the operator; or what SQLite throws
 */
export function copyDatabase(file: string, copy: string): DatabaseCopy {
  makeCopy(file, copy);
  try {
    return { audit: checkCopy(copy), ledger: ledgerIn(copy) };
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  }
}

/** A last connection that only reads would leave an empty log beside the database of a gateway that has stopped. */
function makeCopy(file: string, copy: string): void {
  const tidying = keepDatabase(new Database(file, { fileMustExist: true }));
  try {
    tidying.pragma('schema_version');
    backUp(tidying, copy);
  } finally {
    tidying.close();
  }
}

/** The id of the ledger in a database. Throws what SQLite throws where there is none. */
export function ledgerIn(file: string): string {
  const database = keepDatabase(new Database(file, { fileMustExist: true }));
  try {
    return database.prepare<[], string>('SELECT id FROM ledger_identity').pluck().get() ?? '';
  } finally {
    database.close();
  }
}
