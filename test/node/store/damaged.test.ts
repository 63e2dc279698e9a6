// Damaged files: what opens can be read, what cannot is refused with a sentence and left as it is, to the byte.

import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/open-database.ts';
import { openError, StoreError } from '../../../src/store/store-error.ts';
import { drawn } from '../../fakes/drawn.ts';
import { type Random, seeded } from '../../fakes/random.ts';
import { databaseIn, OPERATOR, openTables } from '../../fakes/store/data-directory.ts';
import { type DirectTables, directTables } from '../../fakes/store/direct-tables.ts';
import { fullDatabase, readAll } from '../../fakes/store/full-database.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

/** A database in which every table has rows: closed, and as a killed process leaves it. */
let closed: Buffer;
let killed: { database: Buffer; log: Buffer };
let counts: Map<string, number>;

beforeAll(() => {
  const full = fullDatabase();
  counts = full.counts;
  killed = { database: readFileSync(full.file), log: readFileSync(`${full.file}-wal`) };
  full.close();
  closed = readFileSync(full.file);
});

test('covers rows in every table of the damaged database', () => {
  expect([...counts].filter(([, rows]) => rows === 0)).toEqual([]);
});

/** One to eight bytes changed, close together or anywhere. */
function flip(random: Random, original: Buffer): Buffer {
  const bytes = Buffer.from(original);
  const start = random.integer(0, bytes.length - 1);
  const reach = random.pick([16, 4096, bytes.length]);
  for (let count = random.integer(1, 8); count > 0; count--) {
    const at = (start + random.integer(0, reach)) % bytes.length;
    bytes[at] = bytes[at]! ^ random.integer(1, 255);
  }
  return bytes;
}

/**
 * What became of a file: all of it was read, or the sentence of its refusal. A file that could be opened, but whose tables could not be
 * used, has its write-ahead log moved into it when it is closed.
 */
function fate(file: string): { refused?: string; wasOpen?: boolean; read?: Map<string, number> } {
  let database: ReturnType<typeof openDatabase>;
  try {
    database = openDatabase(file);
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    return { refused: (error as StoreError).message };
  }
  try {
    const tables = tablesOf(database, file);
    return typeof tables === 'string' ? { refused: tables, wasOpen: true } : { read: readAll(database, tables) };
  } finally {
    database.close();
  }
}

/** Or the sentence about a trigger or an index that is still there, and still SQL, and not what it was. */
function tablesOf(database: ReturnType<typeof openDatabase>, file: string): DirectTables | string {
  try {
    return directTables(database, Date.now).tables;
  } catch (error) {
    return openError(error, file).message;
  }
}

describe.each([
  ['closed', 'database', drawn(200)],
  ['killed', 'database', drawn(100)],
  ['killed', 'log', drawn(100)],
] as const)('a %s store with changed bytes in its %s', (kind, part, seeds) => {
  test(`opens and is readable, or is refused and stays as it is, ${seeds} times`, { timeout: 90_000 }, () => {
    const directory = temporaryDirectory();
    const outcomes = { read: 0, refused: 0 };
    for (let seed = 1; seed <= seeds; seed++) {
      const random = seeded(seed);
      const file = join(directory, `${seed}.db`);
      const database = kind === 'closed' ? closed : killed.database;
      writeFileSync(file, part === 'database' ? flip(random, database) : database);
      if (kind === 'killed') writeFileSync(`${file}-wal`, part === 'log' ? flip(random, killed.log) : killed.log);
      const before = [file, `${file}-wal`].filter(existsSync).map((name) => [name, readFileSync(name)] as const);
      const { refused, wasOpen = false } = fate(file);
      if (refused !== undefined) expect(refused, `seed ${seed}`).toMatch(/^The database "[^\n]+\.$/);
      if (refused !== undefined && !wasOpen) {
        for (const [name, bytes] of before)
          expect(readFileSync(name).equals(bytes), `seed ${seed}: ${name}`).toBe(true);
      }
      outcomes[refused === undefined ? 'read' : 'refused'] += 1;
      for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
    }
    expect(outcomes.read).toBeGreaterThan(0);
    if (part === 'database' && kind === 'closed') expect(outcomes.refused).toBeGreaterThanOrEqual(seeds / 20);
  });
});

test('opens a write-ahead log torn at any length with the commits before the tear', () => {
  const directory = temporaryDirectory();
  const { file, tables } = openTables(databaseIn(directory));
  const { organisation } = tables.bootstrap()!;
  const names = ['First key', ...Array.from({ length: 10 }, (_, index) => `key ${index}`)];
  for (const name of names.slice(1)) tables.createKey(organisation.id, { name }, OPERATOR);
  const length = statSync(`${file}-wal`).size;
  for (let part = 0; part <= 20; part++) {
    const copy = join(directory, `copy-${part}.db`);
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    truncateSync(`${copy}-wal`, Math.floor((length * part) / 20));
    const torn = openTables(copy);
    const found = torn.tables.listKeys().map(({ name }) => name);
    expect(found).toEqual(names.slice(0, found.length));
    expect(torn.tables.listAudit(null, 100).filter(({ action }) => action === 'key.created')).toHaveLength(
      found.length,
    );
    if (part === 20) expect(found).toEqual(names);
  }
});
