// Several processes on one data directory: what one does the others hear of, and what a lock or a kill leaves behind.
import { once } from 'node:events';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { parseKey } from '../../../src/accounts/keys/key-text.ts';
import { keepDatabase } from '../../../src/store/keep-database.ts';
import { seeded } from '../../fakes/random.ts';
import { databaseIn, OPERATOR, openStore, openTables, runBeside } from '../../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

/** Writes without end, several calls at a time, and tells of each that was answered. */
/** `npm run test:release` sets 50. */
const KILLS = Number(process.env.KILLS ?? 10);
const WRITER = `
  const store = await openSqliteStore({ directory });
  await store.bootstrap();
  const [organisation] = await store.listOrganisations();
  const write = async () => {
    for (;;) process.send((await store.createKey(organisation.id, { name: 'short life' }, OPERATOR)).secret);
  };
  await Promise.all([write(), write(), write(), write(), write()]);
`;

describe('other processes', () => {
  test('receives a revocation by another process without a call', async () => {
    const directory = temporaryDirectory();
    const store = await openStore(directory);
    const { key } = (await store.bootstrap())!;
    const heard = new Promise((resolve) => store.onKeyRevoked(resolve));
    const child = runBeside(
      directory,
      `
        const store = await openSqliteStore({ directory });
        await store.revokeKey(null, '${key.id}', OPERATOR);
        await store.close();
      `,
    );
    expect(await heard).toBe(key.id);
    if (child.exitCode === null) await once(child, 'exit');
  });

  test('receives a revocation by any other program with the next call', async () => {
    const directory = temporaryDirectory();
    const store = await openStore(directory);
    const { key } = (await store.bootstrap())!;
    const heard: string[] = [];
    store.onKeyRevoked((id) => heard.push(id));
    const database = keepDatabase(new Database(databaseIn(directory)));
    database.exec("UPDATE api_keys SET revoked_at = '2026-01-01T00:00:00.000Z', revocation = 1");
    database.close();
    await store.listOrganisations();
    expect(heard).toEqual([key.id]);
  });

  test(`writers killed ${KILLS} times in the middle of writes leave every acknowledged call, and no half one`, {
    timeout: 120_000,
  }, async () => {
    const directory = temporaryDirectory();
    const random = seeded(59);
    const acknowledged: string[] = [];
    for (let round = 0; round < KILLS; round++) {
      const enough = acknowledged.length + random.integer(1, 60);
      const child = runBeside(directory, WRITER);
      child.on('message', (secret: string) => {
        acknowledged.push(secret);
        if (acknowledged.length === enough) child.kill('SIGKILL');
      });
      expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
    }
    const { tables, database } = openTables(databaseIn(directory));
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    const found = acknowledged.map((secret) => tables.findKeyByHash(parseKey(secret)!.hash)?.id);
    expect(found).not.toContain(undefined);
    expect(new Set(found).size).toBe(acknowledged.length);
    expect(acknowledged.length).toBeGreaterThan(KILLS);
    // A key and the word of it in the audit log are one call.
    const told = database.prepare("SELECT target FROM audit_log WHERE action = 'key.created'").pluck().all();
    expect(told.sort()).toEqual(
      tables
        .listKeys()
        .map(({ id }) => id)
        .sort(),
    );
  });

  test('delays the store only, under another process’s lock; a write that times out changes nothing', async () => {
    const directory = temporaryDirectory();
    const store = await openStore(directory);
    const { organisation } = (await store.bootstrap())!;
    const other = keepDatabase(new Database(databaseIn(directory)));
    other.exec('BEGIN IMMEDIATE');
    const write = store.createKey(organisation.id, { name: 'waits' }, OPERATOR);
    let isSettled = false;
    const settled = write
      .catch((error: unknown) => error)
      .finally(() => {
        isSettled = true;
      });
    let turns = 0;
    for (; !isSettled && turns < 1000; turns++) await new Promise(setImmediate);
    expect(turns, 'the event loop went on turning').toBe(1000);
    expect(await settled).toMatchObject({
      reason: 'busy',
      message: 'The database is locked by another process: try again in a moment.',
    });
    other.exec('ROLLBACK');
    other.close();
    expect(await store.listKeys()).toHaveLength(1);
    expect((await store.createKey(organisation.id, { name: 'goes through' }, OPERATOR)).key.name).toBe('goes through');
  });
});
