// Data directories, stores and other processes on them, for the tests of the store.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../../../src/node/store/sqlite-store.ts';
import type { Actor } from '../../../src/store/audit-log.ts';
import { openDatabase } from '../../../src/store/open-database.ts';
import { emptyDatabase } from '../../setup/empty-database.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { directTables } from './direct-tables.ts';

/** Who acts where the test is not about that. */
export const OPERATOR: Actor = { type: 'operator', id: 'test' };

export const databaseIn = (directory: string): string => join(directory, 'voxgate.db');

const opened: { close(): unknown }[] = [];
// Registered on import, so that a store may also be opened inside a test.
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

/** A store, closed after the test. */
export async function openStore(directory: string, options: Partial<SqliteStoreOptions> = {}): Promise<SqliteStore> {
  const store = await openSqliteStore({ directory, ...options });
  opened.push(store);
  return store;
}

/** All tables on a new database without the thread, or on one that is there, at a time that the test sets; closed after the test. */
export function openTables(file = databaseIn(temporaryDirectory()), nowMs = Date.UTC(2026, 5, 15, 12, 0, 30, 500)) {
  if (!existsSync(file)) writeFileSync(file, emptyDatabase(), { mode: 0o600 });
  const database = openDatabase(file);
  opened.push(database);
  const time = { nowMs };
  return { file, database, time, ...directTables(database, () => time.nowMs) };
}

/** A data directory with one organisation, closed and without a write-ahead log. */
export async function finishedDirectory(): Promise<string> {
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory });
  await store.bootstrap();
  await store.close();
  return directory;
}

/**
 * Another process. The code may call `openSqliteStore` and `openDatabase`, and sends what it finds out; `directory` and
 * `file` are its data directory and the database in it.
 */
export function runBeside(directory: string, code: string, user: { uid?: number; gid?: number } = {}): ChildProcess {
  const source = (name: string) => new URL(`../../../src/${name}.ts`, import.meta.url).href;
  const head = `
    import { openSqliteStore } from '${source('node/store/sqlite-store')}';
    import { openDatabase } from '${source('store/open-database')}';
    const directory = ${JSON.stringify(directory)};
    const file = ${JSON.stringify(databaseIn(directory))};
    const OPERATOR = ${JSON.stringify(OPERATOR)};
  `;
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', head + code], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    ...user,
  });
}
