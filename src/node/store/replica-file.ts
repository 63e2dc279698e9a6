// Whether the database of this machine belongs to a replicated log, read before it is opened to be written to.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { DATABASE_NAME, keepDatabase } from '../../store/keep-database.ts';

/** The last entry of the log that it contains; 0 where it belongs to no log, is missing, or cannot be read: opening it says why. */
export function replicaEntryIn(directory: string): number {
  const file = join(directory, DATABASE_NAME);
  if (!existsSync(file)) return 0;
  let database: Database.Database | undefined;
  try {
    database = keepDatabase(new Database(file, { readonly: true, fileMustExist: true }));
    return database.prepare<[], number>('SELECT entry FROM replica_position').pluck().get() ?? 0;
  } catch {
    return 0;
  } finally {
    database?.close();
  }
}

/** The file is all that there is of the copy: no log of SQLite is beside it, now or when it is read. */
export function closeLog(file: string): void {
  const copy = keepDatabase(new Database(file, { fileMustExist: true }));
  try {
    copy.pragma('journal_mode = DELETE');
  } finally {
    copy.close();
  }
}
