// The store on SQLite beyond its port: files and their modes, damaged and foreign files, locks, other processes, bounds.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createKeyTables } from '../../src/store/key-tables.ts';
import { isOldVersion, openDatabase } from '../../src/store/open-database.ts';
import { parseKey } from '../../src/store/secrets.ts';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../../src/store/sqlite.ts';
import { openError } from '../../src/store/sqlite-errors.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { seeded } from '../fakes/random.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { storeSuite } from '../suites/store.suite.ts';

const compiled = (name: string) => new URL(`../../dist/src/store/${name}.js`, import.meta.url).href;
const databaseIn = (directory: string) => join(directory, 'voxgate.db');

const opened: SqliteStore[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

async function open(directory: string, options: Partial<SqliteStoreOptions> = {}): Promise<SqliteStore> {
  const store = await openSqliteStore({ directory, ...options });
  opened.push(store);
  return store;
}

/** Another process that may call `openSqliteStore`, and sends what it finds out. */
function run(code: string, options: { uid?: number; gid?: number } = {}): ChildProcess {
  const imports = `import { openSqliteStore } from '${compiled('sqlite')}';`;
  return spawn(process.execPath, ['--input-type=module', '-e', imports + code], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    ...options,
  });
}

/** The sentence with which a directory is refused. */
async function refusal(directory: string): Promise<string> {
  const error: unknown = await open(directory).then(
    () => new Error('It was opened.'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ reason: 'cannot_open', message: expect.stringMatching(/^The database "[^\n]+\.$/) });
  return (error as StoreError).message;
}

/** A data directory with one organisation, closed and without a write-ahead log. */
async function finishedDirectory(): Promise<string> {
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory });
  await store.bootstrap();
  await store.close();
  return directory;
}

storeSuite('SQLite', (directory) => openSqliteStore({ directory }));

describe('files', () => {
  test('directory and files are made for this user alone, also in a path with spaces and other letters', async () => {
    const directory = join(temporaryDirectory(), 'a new folder', 'größe #1 %20?');
    const store = await open(directory);
    await store.bootstrap();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory)).toContain('voxgate.db-wal');
    for (const name of readdirSync(directory)) expect(statSync(join(directory, name)).mode & 0o777, name).toBe(0o600);
  });

  test('no key is written to the disk, only its hash', async () => {
    const directory = temporaryDirectory();
    const store = await open(directory);
    const { secret } = (await store.bootstrap())!;
    const bytes = () => readdirSync(directory).map((name) => readFileSync(join(directory, name)));
    const holds = (part: Uint8Array) => bytes().some((each) => each.includes(Buffer.from(part)));
    expect(holds(parseKey(secret)!.hash)).toBe(true);
    expect(holds(Buffer.from(secret.slice(11, -4)))).toBe(false);
    await store.close();
    expect(holds(parseKey(secret)!.hash)).toBe(true);
    expect(holds(Buffer.from(secret.slice(11, -4)))).toBe(false);
  });

  test('a commit is on the disk before it is acknowledged: write-ahead log, full synchronisation, foreign keys', () => {
    const database = openDatabase(databaseIn(temporaryDirectory()));
    expect(database.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(database.pragma('synchronous', { simple: true })).toBe(2);
    expect(database.pragma('foreign_keys', { simple: true })).toBe(1);
    const tables = database
      .prepare("SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'")
      .pluck()
      .all();
    expect(tables).toEqual([1, 1]);
    database.close();
  });

  test('closing leaves one file', async () => {
    expect(readdirSync(await finishedDirectory())).toEqual(['voxgate.db']);
  });
});

describe('a database that cannot be used is refused with a sentence', () => {
  test('a newer schema', async () => {
    const directory = await finishedDirectory();
    const database = new Database(databaseIn(directory));
    database.pragma('user_version = 99');
    database.close();
    expect(await refusal(directory)).toContain('has schema 99 and this version knows 1: install a newer version.');
  });

  test('a file that is no database', async () => {
    const directory = temporaryDirectory();
    writeFileSync(databaseIn(directory), 'This is a letter to my aunt.'.repeat(100));
    expect(await refusal(directory)).toContain('is damaged or is no SQLite file: restore it from a backup');
  });

  test('a database with a damaged page', async () => {
    const directory = await finishedDirectory();
    const bytes = readFileSync(databaseIn(directory));
    bytes.fill(0xff, 4096 + 8, 4096 + 400);
    writeFileSync(databaseIn(directory), bytes);
    expect(await refusal(directory)).toMatch(/is damaged/);
  });

  test('a directory that is a file', async () => {
    const file = join(temporaryDirectory(), 'data');
    writeFileSync(file, '');
    expect(await refusal(file)).toContain('check that its directory is a directory');
  });

  test('a database that is a directory', async () => {
    const directory = temporaryDirectory();
    mkdirSync(databaseIn(directory));
    expect(await refusal(directory)).toContain('(EISDIR)');
  });

  // Windows has no such rights.
  test.skipIf(process.platform === 'win32')(
    'a directory that may only be read, with or without a database in it',
    async () => {
      for (const directory of [temporaryDirectory(), await finishedDirectory()]) {
        if (existsSync(databaseIn(directory))) chmodSync(databaseIn(directory), 0o444);
        chmodSync(directory, 0o555);
        // The superuser may write anywhere.
        const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
        const reader = run(
          `openSqliteStore({ directory: ${JSON.stringify(directory)} }).catch((error) => process.send(error.message));`,
          nobody,
        );
        const exited = once(reader, 'exit');
        expect((await once(reader, 'message'))[0]).toMatch(
          /^The database ".*" cannot be written \(\w+\): give this user the right/,
        );
        expect((await exited)[0]).toBe(0);
        chmodSync(directory, 0o755);
      }
    },
  );

  test.each([
    ['SQLITE_BUSY', 'is locked by another process'],
    ['SQLITE_FULL', 'the disk is full'],
    ['ENOSPC', 'the disk is full'],
    ['SQLITE_READONLY_DIRECTORY', 'cannot be written'],
    ['EROFS', 'cannot be written'],
    ['SQLITE_CORRUPT_INDEX', 'is damaged'],
    ['ERR_DLOPEN_FAILED', 'npm rebuild better-sqlite3'],
    ['EMFILE', 'cannot be opened (EMFILE)'],
  ])('%s', (code, words) => {
    const { message } = openError(Object.assign(new Error('two\nlines'), { code }), '/a "b"/voxgate.db');
    expect(message).toContain(words);
    expect(message).toMatch(/^[^\n]+\.$/);
  });

  test('a directory that cannot be watched, which is not a full disk', () => {
    const error = Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'watch' });
    expect(openError(error, 'f').message).toContain('raise the system');
  });

  test('the library without its compiled part', () => {
    expect(openError(new Error('Could not locate the bindings file. Tried:\n → x'), 'f').message).toContain(
      'npm rebuild',
    );
  });

  test('an SQLite that can lose a commit', () => {
    const old = ['3.51.2', '3.50.9', '2.99.99', '3.51', '3'];
    const good = ['3.51.3', '3.51.10', '3.52.0', '4.0.0', '3.53.2'];
    expect(old.map(isOldVersion)).toEqual(old.map(() => true));
    expect(good.map(isOldVersion)).toEqual(good.map(() => false));
  });
});

test('bytes overwritten anywhere never crash: what opens answers, what does not is refused with a sentence', async () => {
  const original = databaseIn(await finishedDirectory());
  const random = seeded(7);
  const directory = temporaryDirectory();
  let refused = 0;
  for (let round = 0; round < 60; round++) {
    const file = join(directory, `${round}.db`);
    const bytes = readFileSync(original);
    const start = random.integer(0, bytes.length - 1);
    bytes.fill(random.integer(0, 255), start, Math.min(bytes.length, start + random.integer(1, 2000)));
    writeFileSync(file, bytes);
    try {
      const database = openDatabase(file);
      createKeyTables(database).listKeys(undefined);
      database.close();
    } catch (error) {
      refused += 1;
      expect(openError(error, file).message).toMatch(/^The database "[^\n]+\.$/);
    }
  }
  expect(refused).toBeGreaterThan(5);
});

test('a write-ahead log torn at any length opens with the commits before the tear', () => {
  const directory = temporaryDirectory();
  const file = databaseIn(directory);
  const database = openDatabase(file);
  const tables = createKeyTables(database);
  const { organisation } = tables.bootstrap()!;
  const names = ['First key', ...Array.from({ length: 10 }, (_, index) => `key ${index}`)];
  for (const name of names.slice(1)) tables.createKey(organisation.id, name);
  const length = statSync(`${file}-wal`).size;
  for (let part = 0; part <= 20; part++) {
    const copy = join(directory, `copy-${part}.db`);
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    truncateSync(`${copy}-wal`, Math.floor((length * part) / 20));
    const torn = openDatabase(copy);
    const found = createKeyTables(torn)
      .listKeys(undefined)
      .map(({ name }) => name);
    expect(found).toEqual(names.slice(0, found.length));
    if (part === 20) expect(found).toEqual(names);
    torn.close();
  }
  database.close();
});

describe('other processes', () => {
  test('a revocation by another process is heard while nobody calls', async () => {
    const directory = temporaryDirectory();
    const store = await open(directory);
    const { key } = (await store.bootstrap())!;
    const heard = new Promise((resolve) => store.onKeyRevoked(resolve));
    const child = run(`
      const store = await openSqliteStore({ directory: ${JSON.stringify(directory)} });
      await store.revokeKey('${key.id}');
      await store.close();
    `);
    expect(await heard).toBe(key.id);
    if (child.exitCode === null) await once(child, 'exit');
  });

  test('a revocation by any other program is heard with the next call', async () => {
    const directory = temporaryDirectory();
    const store = await open(directory);
    const { key } = (await store.bootstrap())!;
    const heard: string[] = [];
    store.onKeyRevoked((id) => heard.push(id));
    const database = new Database(databaseIn(directory));
    database.exec("UPDATE api_keys SET revoked_at = '2026-01-01T00:00:00.000Z', revocation = 1");
    database.close();
    await store.listOrganisations();
    expect(heard).toEqual([key.id]);
  });

  test('a writer killed at any moment loses no key that it acknowledged', async () => {
    const directory = temporaryDirectory();
    const acknowledged: string[] = [];
    for (const enough of [1, 20, 45]) {
      const child = run(`
        const store = await openSqliteStore({ directory: ${JSON.stringify(directory)} });
        await store.bootstrap();
        const [organisation] = await store.listOrganisations();
        for (;;) process.send((await store.createKey(organisation.id, 'short life')).secret);
      `);
      const before = acknowledged.length;
      child.on('message', (secret: string) => {
        acknowledged.push(secret);
        if (acknowledged.length - before === enough) child.kill('SIGKILL');
      });
      expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
    }
    const store = await open(directory);
    const found = await Promise.all(acknowledged.map((secret) => store.findKeyByHash(parseKey(secret)!.hash)));
    expect(found.filter((key) => key === undefined)).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(66);
  });

  test('a lock held by another process delays the store only, and a write that cannot wait longer changed nothing', async () => {
    const directory = temporaryDirectory();
    const store = await open(directory);
    const { organisation } = (await store.bootstrap())!;
    const other = new Database(databaseIn(directory));
    other.exec('BEGIN IMMEDIATE');
    const write = store.createKey(organisation.id, 'waits');
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
    expect((await store.createKey(organisation.id, 'goes through')).key.name).toBe('goes through');
  });
});

describe('bounds and faults', () => {
  test('one call more than may wait is rejected by name, the others are answered', async () => {
    const store = await open(temporaryDirectory(), { callsMax: 3 });
    const calls = [store.listKeys(), store.listOrganisations(), store.revokedKeyIds(), store.listKeys()];
    expect(store.waitingCalls).toBe(3);
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
    expect(outcomes[3]).toMatchObject({ reason: { name: 'StoreError', reason: 'overflow' } });
    expect(store.waitingCalls).toBe(0);
    expect(await store.listKeys()).toEqual([]);
  });

  test('a call that fails tells the code and leaves the store working', async () => {
    const directory = temporaryDirectory();
    const store = await open(directory);
    const { organisation } = (await store.bootstrap())!;
    const database = new Database(databaseIn(directory));
    database.exec("CREATE TRIGGER full BEFORE INSERT ON api_keys BEGIN SELECT RAISE(ABORT, 'no room'); END");
    await expect(store.createKey(organisation.id, 'x')).rejects.toMatchObject({
      reason: 'failed',
      message: 'The database could not do it (SQLITE_CONSTRAINT_TRIGGER): no room.',
    });
    database.exec('DROP TRIGGER full');
    database.close();
    expect((await store.createKey(organisation.id, 'x')).key.name).toBe('x');
  });

  test('a thread that dies is told once, and every call is rejected from then on', async () => {
    const directory = temporaryDirectory();
    const onFault = vi.fn();
    const store = await open(directory, { onFault });
    const faulted = new Promise((resolve) => onFault.mockImplementation(resolve));
    const database = new Database(databaseIn(directory));
    database.exec('DROP TABLE api_keys');
    utimesSync(databaseIn(directory), new Date(), new Date());
    expect(await faulted).toMatchObject({ reason: 'failed', message: expect.stringContaining('no such table') });
    await expect(store.listOrganisations()).rejects.toMatchObject({ reason: 'failed' });
    await store.close();
    expect(onFault).toHaveBeenCalledOnce();
    database.close();
  });
});
