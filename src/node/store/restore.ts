// Puts a backup in the place of the database: checks the copy first, requires that no process has the database open, and keeps
// the old database under another name. ledger/history.ts settles again what the copy lacks.
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import Database from 'better-sqlite3';
import { createLedgerAudit } from '../../money/store/audit/audit.ts';
import type { LedgerAudit } from '../../money/store/calls.ts';
import { createLedgerTables } from '../../money/store/tables.ts';
import { createIdentityTables } from '../../store/identity.ts';
import { keepDatabase } from '../../store/keep-database.ts';
import { MIGRATIONS } from '../../store/migrations.ts';
import { openDatabase } from '../../store/open-database.ts';
import { createReplicaTables } from '../../store/replica-position.ts';
import { isBusy, StoreError } from '../../store/store-error.ts';

/** How long another command that has the database open is waited for. A gateway has it open until it stops. */
const BUSY_WAIT_MS = 1000;
/** What SQLite keeps beside a database that is open, or was not closed. */
const COMPANIONS = ['-wal', '-shm', '-journal'] as const;

/**
 * Checks a copy without changing it: that it is whole, of this schema, and that its ledger agrees.
 *
 * @throws StoreError `failed`, with a sentence for the operator
 */
export function checkCopy(file: string): LedgerAudit {
  const database = openCopy(file, file, true);
  try {
    const version = requireWhole(database, file);
    if (version === MIGRATIONS.length) {
      return requireAgreement(createLedgerAudit({ database, nowMs: Date.now }, true).auditLedger(), file);
    }
    throw bad(file, `has schema ${version} and this version writes ${MIGRATIONS.length}`);
  } finally {
    database.close();
  }
}

/**
 * Puts a copy of the backup `copy` where the database `file` is or was; an older schema is brought to the newest. `kept` is
 * the new name of what was there.
 *
 * @throws StoreError `not_found`, `conflict` (in use, or there and not forced) or `failed` (the copy is no good): then nothing
 *   was changed
 */
export function restoreDatabase(
  copy: string,
  file: string,
  force: boolean,
  now = new Date(),
): { audit: LedgerAudit; kept: string | undefined } {
  requireBackup(copy, file);
  if (existsSync(file) && !force) {
    throw new StoreError(
      'conflict',
      `${file} is there already; with --force the backup takes its place and it is kept beside it under another name.`,
    );
  }
  const stamp = now.toISOString().replaceAll(/[-:.]/g, '');
  const next = `${file}.restoring-${stamp}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    const audit = prepare(copy, next, now);
    return { audit, kept: swap(next, file, `${file}.before-restore-${stamp}`) };
  } finally {
    for (const suffix of ['', ...COMPANIONS]) rmSync(next + suffix, { force: true });
  }
}

function requireBackup(copy: string, file: string): void {
  if (!existsSync(copy) || !statSync(copy).isFile()) throw new StoreError('not_found', `There is no file ${copy}.`);
  if (existsSync(file) && realpathSync(copy) === realpathSync(file)) {
    throw new StoreError('conflict', `${copy} is the database itself; name a copy that voxgate ledger backup made.`);
  }
  const companion = COMPANIONS.find((suffix) => existsSync(copy + suffix));
  if (companion === undefined) return;
  throw bad(copy, `has ${basename(copy)}${companion} beside it, without which it may lack its last commits`);
}

/** A private copy at the newest schema, checked and on the disk. */
function prepare(copy: string, next: string, now: Date): LedgerAudit {
  copyFileSync(copy, next);
  chmodSync(next, 0o600);
  giveToOwnerOf(dirname(next), next);
  const found = openCopy(next, copy, false);
  try {
    requireWhole(found, copy);
  } finally {
    found.close();
  }
  const database = openDatabase(next);
  try {
    const base = { database, nowMs: () => now.getTime(), nowText: () => now.toISOString() };
    const ledger = createLedgerTables({ ...base, audit: () => {}, outbox: () => {} });
    // Holds in the copy belong to sessions that are over.
    ledger.expireHolds();
    createIdentityTables(base).renewGeneration();
    // Of a replica: the log has what the copy is to lack.
    createReplicaTables(base).forgetLog();
    return requireAgreement(ledger.auditLedger(), copy);
  } finally {
    database.close();
    sync(next);
  }
}

/** Root restores, and a service without its rights continues with the file. */
function giveToOwnerOf(directory: string, file: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(directory);
  chownSync(file, uid, gid);
}

/** @param name what sentences call it */
function openCopy(file: string, name: string, readonly: boolean): Database.Database {
  try {
    const database = keepDatabase(new Database(file, { readonly, fileMustExist: true }));
    database.pragma('schema_version');
    return database;
  } catch {
    throw bad(name, 'is no SQLite file, or cannot be read');
  }
}

/** The version of its schema. An empty file, or another program's, is not taken for a database without anything in it. */
function requireWhole(database: Database.Database, name: string): number {
  let whole: unknown;
  try {
    whole = database.pragma('quick_check(1)', { simple: true });
  } catch {
    whole = undefined;
  }
  if (whole !== 'ok') throw bad(name, 'is damaged');
  const isVoxgate = database
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'organisations'")
    .get();
  const version = Number(database.pragma('user_version', { simple: true }));
  if (isVoxgate === undefined || version < 1) throw bad(name, 'is no database of Voxgate');
  if (version > MIGRATIONS.length) {
    throw bad(name, `has schema ${version} and this version knows ${MIGRATIONS.length}: install a newer version`);
  }
  return version;
}

function requireAgreement(audit: LedgerAudit, name: string): LedgerAudit {
  if (audit.ok) return audit;
  throw bad(
    name,
    `has a ledger that does not agree, as ${audit.faults.length} faults show; the first: ${audit.faults[0]}`,
  );
}

/** Puts `next` in the place of `file`, at no moment leaving nothing there. The new name of what was there. */
function swap(next: string, file: string, aside: string): string | undefined {
  if (!existsSync(file)) {
    renameSync(next, file);
    sync(dirname(file));
    return undefined;
  }
  const lock = lockAlone(file);
  try {
    linkSync(file, aside);
    for (const suffix of COMPANIONS) if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
    renameSync(next, file);
    sync(dirname(file));
    return aside;
  } finally {
    lock?.close();
  }
}

/**
 * Has the database alone and writes its log into it; another process that has it open, such as a gateway, prevents that.
 * Undefined where it is damaged and cannot be locked.
 */
function lockAlone(file: string): Database.Database | undefined {
  let database: Database.Database | undefined;
  try {
    database = keepDatabase(new Database(file, { fileMustExist: true, timeout: BUSY_WAIT_MS }));
    database.pragma('journal_mode = DELETE');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code.startsWith('SQLITE_NOTADB') || code.startsWith('SQLITE_CORRUPT')) return undefined;
    const why = isBusy(error) ? 'is open in another process: stop the gateway' : `cannot be locked (${code})`;
    throw new StoreError('conflict', `${file} ${why}; nothing was changed.`);
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const bad = (name: string, why: string): StoreError => new StoreError('failed', `${name} ${why}.`);
