// Opens the SQLite file the one right way: checked, durable, at the newest schema. What is in the tables is decided in the rooms that own them.
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { isOlderVersion } from '../runtime/version.ts';
import { keepDatabase } from './keep-database.ts';
import { MIGRATIONS } from './migrations.ts';
import { isBusy, openError, StoreError } from './store-error.ts';

/** Older ones can lose a commit when a checkpoint resets the write-ahead log (fixed in 3.51.3). */
export const SQLITE_VERSION_MIN = [3, 51, 3] as const;
/** How long opening waits for another process that opens or migrates the same file. */
const OPEN_WAIT_MS = 5000;
const OPEN_AGAIN_MS = 20;
/** How long a call waits for another process's write lock; all other calls wait behind it. */
const CALL_WAIT_MS = 500;
/** The write-ahead log is cut back to this once all of it was moved into the database. */
const LOG_BYTES_KEPT = 8 * 2 ** 20;
/** A larger database is checked without its indexes, so that it opens in a bearable time. */
const WHOLE_CHECK_BYTES_MAX = 64 * 2 ** 20;
const FULL = 2;

/**
 * Opens or makes the database, brings it to the newest schema, and checks it. Directory and file are made for this user alone.
 * What is refused is left as it is, to the byte.
 *
 * @throws StoreError `cannot_open` with a sentence for the operator
 */
export function openDatabase(file: string): Database.Database {
  const endMs = performance.now() + OPEN_WAIT_MS;
  for (;;) {
    try {
      return openOnce(file);
    } catch (error) {
      if (!isBusy(error) || performance.now() >= endMs) throw openError(error, file);
      // Nothing tells when a lock of another process ends, and a thread that opens has nothing else to do.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_AGAIN_MS);
    }
  }
}

/** Opens, or leaves nothing behind. SQLite does not wait for every lock: not for the one that changing to a log takes. */
function openOnce(file: string): Database.Database {
  let guard: Database.Database | undefined;
  let database: Database.Database | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // SQLite gives its log and index files the mode of the main file, so that one is made first.
    closeSync(openSync(file, 'a', 0o600));
    guard = openGuard(file);
    database = keepDatabase(new Database(file, { timeout: OPEN_WAIT_MS }));
    check(database, file);
    setPragmas(database, file);
    migrate(database, file);
    database.pragma(`busy_timeout = ${CALL_WAIT_MS}`);
    return database;
  } catch (error) {
    database?.close();
    throw error;
  } finally {
    guard?.close();
  }
}

/**
 * A connection that cannot write. As long as it is there, none that can will move the log into the database when it closes,
 * which would change what is refused for being damaged.
 *
 * @returns undefined where a change of the file was cut short that only one that can write may undo
 */
function openGuard(file: string): Database.Database | undefined {
  const guard = keepDatabase(new Database(file, { readonly: true, fileMustExist: true, timeout: OPEN_WAIT_MS }));
  try {
    guard.pragma('schema_version');
    return guard;
  } catch (error) {
    guard.close();
    if (error instanceof Database.SqliteError && /^SQLITE_(READONLY|CANTOPEN)/.test(error.code)) return undefined;
    throw error;
  }
}

function requireVersion(database: Database.Database, file: string): void {
  const version = String(database.prepare('SELECT sqlite_version()').pluck().get());
  if (isOlderVersion(version, SQLITE_VERSION_MIN)) {
    const wanted = SQLITE_VERSION_MIN.join('.');
    throw new StoreError(
      'cannot_open',
      `The database ${JSON.stringify(file)} needs SQLite ${wanted} or newer and this is ${version}: run \`npm ci\`.`,
    );
  }
}

/** Sets what durability rests on, and reads it back: some file systems quietly refuse. */
function setPragmas(database: Database.Database, file: string): void {
  const journal = database.pragma('journal_mode = WAL', { simple: true });
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  // Without it, a REPLACE removes rows past the triggers that say that they stay.
  database.pragma('recursive_triggers = ON');
  // What a long reader made the log grow to is given back with the first commit after it.
  database.pragma(`journal_size_limit = ${LOG_BYTES_KEPT}`);
  database.pragma('cell_size_check = ON');
  database.pragma('trusted_schema = OFF');
  const isSet =
    journal === 'wal' &&
    database.pragma('synchronous', { simple: true }) === FULL &&
    database.pragma('foreign_keys', { simple: true }) === 1;
  if (isSet) return;
  throw new StoreError(
    'cannot_open',
    `The database ${JSON.stringify(file)} cannot be kept durable here (journal mode ${journal}): put the data directory on a local disk.`,
  );
}

function check(database: Database.Database, file: string): void {
  requireVersion(database, file);
  const version = requireKnownSchema(database, file);
  const isSound =
    database.pragma(`${thoroughness(database)}_check(1)`, { simple: true }) === 'ok' &&
    database.prepare('SELECT 1 FROM pragma_foreign_key_check').get() === undefined &&
    hasColumns(database, version);
  if (isSound) return;
  throw new StoreError(
    'cannot_open',
    `The database ${JSON.stringify(file)} is damaged: restore it from a backup with \`voxgate ledger restore FILE --force\`, or move it away to start with an empty one.`,
  );
}

/** Whether every column of its version is there: no check of the pages looks at the words of the schema. */
function hasColumns(database: Database.Database, version: number): boolean {
  const found = new Set(columnsOf(database));
  return referenceColumns(version).every((column) => found.has(column));
}

const columnsByVersion = new Map<number, readonly string[]>();

/** Of a new database at that version: made once, as a process may open many. */
function referenceColumns(version: number): readonly string[] {
  const known = columnsByVersion.get(version);
  if (known !== undefined) return known;
  const reference = keepDatabase(new Database(':memory:'));
  try {
    for (const migration of MIGRATIONS.slice(0, version)) reference.exec(migration);
    const columns = columnsOf(reference);
    columnsByVersion.set(version, columns);
    return columns;
  } finally {
    reference.close();
  }
}

function columnsOf(database: Database.Database): string[] {
  return database
    .prepare<[], string>(
      `SELECT tables.name || '.' || columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'`,
    )
    .pluck()
    .all();
}

/** Only the whole check compares indexes with their tables; it takes three times as long, about 15 ms for each MiB. */
function thoroughness(database: Database.Database): 'integrity' | 'quick' {
  const bytes = (name: string) => Number(database.pragma(name, { simple: true }));
  return bytes('page_count') * bytes('page_size') <= WHOLE_CHECK_BYTES_MAX ? 'integrity' : 'quick';
}

/** The version of the database's schema. */
function requireKnownSchema(database: Database.Database, file: string): number {
  const version = Number(database.pragma('user_version', { simple: true }));
  if (version >= 0 && version <= MIGRATIONS.length) return version;
  throw new StoreError(
    'cannot_open',
    `The database ${JSON.stringify(file)} has schema ${version} and this version knows ${MIGRATIONS.length}: install a newer version.`,
  );
}

/** Applies what is missing, all of it or nothing. Two processes that start at once take turns. */
function migrate(database: Database.Database, file: string): void {
  const apply = database.transaction(() => {
    const version = requireKnownSchema(database, file);
    for (const migration of MIGRATIONS.slice(version)) database.exec(migration);
    if (version < MIGRATIONS.length) database.pragma(`user_version = ${MIGRATIONS.length}`);
  });
  apply.immediate();
}
