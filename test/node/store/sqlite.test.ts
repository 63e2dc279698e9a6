// The store on SQLite beyond its port: files and their modes, the write-ahead log, bounds, a thread that dies.
import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test, vi } from 'vitest';
import { parseKey } from '../../../src/accounts/keys/key-text.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { keepDatabase } from '../../../src/store/keep-database.ts';
import { databaseIn, finishedDirectory, OPERATOR, openStore, openTables } from '../../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { storeSuite } from '../../suites/store.suite.ts';

storeSuite('SQLite', (directory) => openSqliteStore({ directory }));

describe('files', () => {
  test('belong to this user alone, also in a path with spaces and other letters', async () => {
    const directory = join(temporaryDirectory(), 'a new folder', 'größe #1 %20?');
    const store = await openStore(directory);
    await store.bootstrap();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory)).toContain('voxgate.db-wal');
    for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o777, name).toBe(0o600);
  });

  test('contain only the hash of a key', async () => {
    const directory = temporaryDirectory();
    const store = await openStore(directory);
    const { secret } = (await store.bootstrap())!;
    const bytes = () => readdirSync(directory).map((name) => readFileSync(join(directory, name)));
    const holds = (part: Uint8Array) => bytes().some((each) => each.includes(Buffer.from(part)));
    expect(holds(parseKey(secret)!.hash)).toBe(true);
    expect(holds(Buffer.from(secret.slice(11, -4)))).toBe(false);
    await store.close();
    expect(holds(parseKey(secret)!.hash)).toBe(true);
    expect(holds(Buffer.from(secret.slice(11, -4)))).toBe(false);
  });

  test('hold a commit before it is acknowledged: write-ahead log, full sync, foreign keys', () => {
    const { database } = openTables();
    expect(database.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(database.pragma('synchronous', { simple: true })).toBe(2);
    expect(database.pragma('foreign_keys', { simple: true })).toBe(1);
    const loose = database
      .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%' AND NOT strict")
      .pluck()
      .all();
    expect(loose).toEqual([]);
  });

  test('shrink a log that grew under a long reader with the first commits after it', () => {
    const { file, database, tables } = openTables();
    const { organisation } = tables.bootstrap()!;
    const logBytes = () => statSync(`${file}-wal`).size;
    const write = () => tables.createOrganisation('x'.repeat(100), null, OPERATOR);
    const writeMuch = () => {
      const insert = "INSERT INTO outbox (type, params, due_at_ms) VALUES ('x', json_quote(hex(zeroblob(500000))), 0)";
      for (let megabytes = 0; megabytes < 14; megabytes++) database.exec(insert);
    };

    const reader = keepDatabase(new Database(file, { readonly: true }));
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM organisations').get();
    writeMuch();
    write();
    expect(logBytes()).toBeGreaterThan(12 * 2 ** 20);
    reader.close();
    // The first moves the log into the database, the second begins it anew, and it stays small from then on.
    for (let index = 0; index < 3; index++) write();
    expect(logBytes()).toBeLessThanOrEqual(8 * 2 ** 20);
    for (let round = 0; round < 800; round++) write();
    expect(logBytes()).toBeLessThanOrEqual(8 * 2 ** 20);
    expect(tables.findOrganisation(organisation.id)).toEqual(organisation);
  });

  test('shrink to one file at closing', async () => {
    expect(readdirSync(await finishedDirectory())).toEqual(['voxgate.db']);
  });
});

describe('bounds and faults', () => {
  test('reject one call more than the queue holds by name, and answer the others', async () => {
    const store = await openStore(temporaryDirectory(), { callsMax: 3 });
    const calls = [store.listKeys(), store.listOrganisations(), store.revokedKeyIds(), store.listKeys()];
    expect(store.waitingCalls).toBe(3);
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
    expect(outcomes[3]).toMatchObject({ reason: { name: 'StoreError', reason: 'overflow' } });
    expect(store.waitingCalls).toBe(0);
    expect(await store.listKeys()).toEqual([]);
  });

  test('report the code of a failing call, and leave the store working', async () => {
    const directory = temporaryDirectory();
    const store = await openStore(directory);
    const { organisation } = (await store.bootstrap())!;
    const database = keepDatabase(new Database(databaseIn(directory)));
    database.exec("CREATE TRIGGER full BEFORE INSERT ON api_keys BEGIN SELECT RAISE(ABORT, 'no room'); END");
    await expect(store.createKey(organisation.id, { name: 'x' }, OPERATOR)).rejects.toMatchObject({
      reason: 'failed',
      message: 'The database could not do it (SQLITE_CONSTRAINT_TRIGGER): no room.',
    });
    database.exec('DROP TRIGGER full');
    database.close();
    expect((await store.createKey(organisation.id, { name: 'x' }, OPERATOR)).key.name).toBe('x');
  });

  test('report a dead thread once, and reject every later call', async () => {
    const directory = temporaryDirectory();
    const onFault = vi.fn();
    const store = await openStore(directory, { onFault });
    const faulted = new Promise((resolve) => onFault.mockImplementation(resolve));
    const database = keepDatabase(new Database(databaseIn(directory)));
    database.exec('DROP TABLE api_keys');
    utimesSync(databaseIn(directory), new Date(), new Date());
    expect(await faulted).toMatchObject({ reason: 'failed', message: expect.stringContaining('no such table') });
    await expect(store.listOrganisations()).rejects.toMatchObject({ reason: 'failed' });
    await store.close();
    expect(onFault).toHaveBeenCalledOnce();
    database.close();
  });
});
