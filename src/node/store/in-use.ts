// Whether another process, such as a gateway, has the database open.
import Database from 'better-sqlite3';
import { keepDatabase } from '../../store/keep-database.ts';
import { isBusy } from '../../store/store-error.ts';

/** How long another command that has it open is waited for. A gateway has it open until it stops. */
const WAIT_MS = 1_000;

/** A file that cannot be read is not in use: opening it says what is wrong. */
export function isInUse(file: string): boolean {
  let database: Database.Database | undefined;
  try {
    database = keepDatabase(new Database(file, { fileMustExist: true, timeout: WAIT_MS }));
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN IMMEDIATE');
    database.exec('ROLLBACK');
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    database?.close();
  }
}
