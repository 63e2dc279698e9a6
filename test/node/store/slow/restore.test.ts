// Backups: a copy made while others write is whole and agrees; only a good copy takes the place of a database that nobody has
// open, and what was there stays.
import {
  chownSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { checkCopy, restoreDatabase } from '../../../../src/node/store/restore.ts';
import type { SqliteStore } from '../../../../src/node/store/sqlite-store.ts';
import { keepDatabase } from '../../../../src/store/keep-database.ts';
import { StoreError } from '../../../../src/store/store-error.ts';
import { databaseIn, openStore } from '../../../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../../../fakes/temporary-directory.ts';

const BY = { type: 'operator', id: 'test' } as const;
const PRICE = { unit: 'minute', microUsd: 4_300n, minimumMicroUsd: 0n } as const;

/** A directory with a ledger of so many sessions; closed. */
async function directoryWith(sessions: number): Promise<string> {
  const directory = temporaryDirectory();
  const store = await openStore(directory);
  const key = await firstKey(store);
  await Promise.all(Array.from({ length: sessions }, (_, index) => settle(store, key, index)));
  await store.close();
  return directory;
}

async function firstKey(store: SqliteStore) {
  const { key } = (await store.bootstrap())!;
  const { id, organisationId } = key;
  await store.addCredit({ organisationId, kind: 'top_up', microUsd: 10n ** 9n, uniqueKey: 'first', note: '' }, BY);
  return { id, organisationId };
}

/** A session from its hold to its bill. */
async function settle(store: SqliteStore, key: { id: string; organisationId: string }, index: number): Promise<void> {
  const openedAt = new Date().toISOString();
  const model = 'asr/one';
  const head = {
    id: `ses_${index}`,
    organisationId: key.organisationId,
    keyId: key.id,
    mode: 'live',
    model,
    openedAt,
  } as const;
  const line = (audioMs: number) => ({ model, own: false, audioMs, price: PRICE });
  const hold = { wantedMicroUsd: 100_000n, leastMicroUsd: 1n, leaseMs: 60_000 };
  await store.openSession(head, hold);
  await store.renewHold(head, [line(30_000)], hold);
  const lines = [line(45_000 + index)];
  await store.settleSession(head, { endedAt: openedAt, reason: 'completed', code: null, audioMs: 50_000, lines });
}

async function backup(directory: string, name = 'copy.db'): Promise<string> {
  const file = join(temporaryDirectory(), name);
  const store = await openStore(directory);
  await store.backup(file);
  await store.close();
  return file;
}

describe('a backup', () => {
  it('made while others write is whole, agrees, and holds what was answered before', async () => {
    const directory = temporaryDirectory();
    const [gateway, command] = [await openStore(directory), await openStore(directory)];
    const key = await firstKey(gateway);
    let done = 0;
    let writing = true;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let index = 0; writing; index++) {
        await settle(gateway, key, writer * 100_000 + index);
        done++;
      }
    });
    const counts: [number, number][] = [];
    for (let round = 0; round < 5; round++) {
      while (done < (round + 1) * 20) await new Promise((resolve) => setImmediate(resolve));
      const file = join(directory, `copy-${round}.db`);
      const before = done;
      await command.backup(file);
      const { ok, sessions } = checkCopy(file);
      expect(ok).toBe(true);
      counts.push([before, sessions]);
    }
    writing = false;
    await Promise.all(writers);
    for (const [before, sessions] of counts) expect(sessions).toBeGreaterThanOrEqual(before);
    expect((await gateway.auditLedger()).ok).toBe(true);
  });

  it('restores the older state, and keeps the newer one whole', async () => {
    const directory = await directoryWith(3);
    const copy = await backup(directory);
    const store = await openStore(directory);
    const { id, organisationId } = (await store.listKeys())[0]!;
    for (const index of [10, 11]) await settle(store, { id, organisationId }, index);
    await store.close();

    const { audit, kept } = restoreDatabase(copy, databaseIn(directory), true);
    expect(audit).toMatchObject({ ok: true, sessions: 3 });
    expect(checkCopy(kept!)).toMatchObject({ ok: true, sessions: 5 });
    const restored = await openStore(directory);
    expect(await restored.auditLedger()).toMatchObject({ ok: true, sessions: 3 });
    // What was posted after the copy may be posted again, as by a journal.
    await settle(restored, { id, organisationId }, 10);
    expect(await restored.auditLedger()).toMatchObject({ ok: true, sessions: 4 });
    expect(statSync(databaseIn(directory)).mode & 0o777).toBe(0o600);
  });
});

describe('a restore', () => {
  it('makes a data directory that is not there yet', async () => {
    const copy = await backup(await directoryWith(2));
    const file = databaseIn(join(temporaryDirectory(), 'new'));
    expect(restoreDatabase(copy, file, false)).toMatchObject({ kept: undefined, audit: { sessions: 2 } });
    expect(checkCopy(file).sessions).toBe(2);
  });

  it('leaves only the database and the replaced files', async () => {
    const directory = await directoryWith(1);
    restoreDatabase(await backup(directory), databaseIn(directory), true, new Date('2026-12-31T18:00:00.123Z'));
    expect(readdirSync(directory).sort()).toEqual(['voxgate.db', 'voxgate.db.before-restore-20261231T180000123Z']);
  });

  // Only root can give files away.
  it.skipIf(process.getuid?.() !== 0)(
    'leaves the database to the owner of its directory when root runs it',
    async () => {
      const SERVICE = 65_534;
      const copy = await backup(await directoryWith(1));
      for (const directory of [await directoryWith(1), temporaryDirectory()]) {
        chownSync(directory, SERVICE, SERVICE);
        restoreDatabase(copy, databaseIn(directory), true);
        const { uid, gid, mode } = statSync(databaseIn(directory));
        expect([uid, gid, mode & 0o777]).toEqual([SERVICE, SERVICE, 0o600]);
      }
    },
  );

  it('takes the place of a damaged database, and keeps it', async () => {
    const directory = await directoryWith(1);
    const copy = await backup(directory);
    writeFileSync(databaseIn(directory), 'not a database, but somebody may want it');
    writeFileSync(`${databaseIn(directory)}-wal`, 'its log');
    const { kept } = restoreDatabase(copy, databaseIn(directory), true);
    expect(readFileSync(kept!, 'utf8')).toContain('somebody may want it');
    expect(existsSync(`${databaseIn(directory)}-wal`)).toBe(false);
    expect((await (await openStore(directory)).auditLedger()).ok).toBe(true);
  });

  it('keeps what the process before it committed and had no time to tidy up', async () => {
    const directory = temporaryDirectory();
    const store = await openStore(directory);
    const key = await firstKey(store);
    await settle(store, key, 1);
    const crashed = temporaryDirectory();
    for (const name of readdirSync(directory)) copyFileSync(join(directory, name), join(crashed, name));
    expect(readdirSync(crashed)).toContain('voxgate.db-wal');
    const { kept } = restoreDatabase(await backup(await directoryWith(3)), databaseIn(crashed), true);
    expect(checkCopy(kept!)).toMatchObject({ ok: true, sessions: 1 });
    expect(checkCopy(databaseIn(crashed)).sessions).toBe(3);
  });

  it('fails while any process has the database open, and changes nothing', async () => {
    const directory = await directoryWith(1);
    const copy = await backup(directory);
    const gateway = await openStore(directory);
    expect(refusal(copy, directory)).toEqual(['conflict', expect.stringContaining('stop the gateway')]);
    await gateway.createOrganisation('still works', 0n, BY);
    await gateway.close();
    expect(readdirSync(directory)).toEqual(['voxgate.db']);
  });

  it('fails without force where a database exists', async () => {
    const directory = await directoryWith(1);
    const copy = await backup(directory);
    expect(refusal(copy, directory, false)).toEqual(['conflict', expect.stringContaining('--force')]);
    expect(readdirSync(directory)).toEqual(['voxgate.db']);
  });

  it.each<[string, (file: string) => void, RegExp]>([
    ['is not there', (file) => copyFileSync(file, `${file}.x`), /no file/],
    ['is empty', (file) => writeFileSync(`${file}.x`, ''), /no database of Voxgate/],
    ['is a text', (file) => writeFileSync(`${file}.x`, 'x'.repeat(10_000)), /no SQLite file/],
    ['was cut off', (file) => truncateSync(copyTo(file), 8192), /damaged|no SQLite file/],
    ['has bytes of zero in the middle', (file) => damage(copyTo(file)), /damaged/],
    [
      'is of another program',
      (file) => alter(copyTo(file), 'DROP TABLE IF EXISTS organisations'),
      /no database of Voxgate/,
    ],
    [
      'is of a newer version',
      (file) => alter(copyTo(file), 'PRAGMA user_version = 9999'),
      /schema 9999.*newer version/,
    ],
    ['has its log next to it', (file) => writeFileSync(`${copyTo(file)}-wal`, 'log'), /beside it/],
    ['does not agree', (file) => alter(copyTo(file), FORGED), /does not agree/],
  ])('fails when the copy %s, and changes nothing', async (what, spoil, words) => {
    const directory = await directoryWith(4);
    const copy = await backup(directory);
    spoil(copy);
    const [reason, message] = refusal(what === 'is not there' ? `${copy}.nothing` : `${copy}.x`, directory);
    expect(['failed', 'not_found']).toContain(reason);
    expect(message).toMatch(words);
    expect(message).toMatch(/^[^\n]+\.$/);
    expect(readdirSync(directory)).toEqual(['voxgate.db']);
    expect(checkCopy(databaseIn(directory)).sessions).toBe(4);
  });

  it('fails with the database as its own backup', async () => {
    const directory = await directoryWith(1);
    expect(refusal(databaseIn(directory), directory)).toEqual(['conflict', expect.stringContaining('itself')]);
  });
});

const FORGED = 'UPDATE balances SET posted_micro_usd = posted_micro_usd + 1';

function copyTo(file: string): string {
  copyFileSync(file, `${file}.x`);
  return `${file}.x`;
}

function alter(file: string, sql: string): void {
  const database = keepDatabase(new Database(file));
  database.pragma('foreign_keys = OFF');
  database.exec(sql);
  database.close();
}

function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0, 4096, bytes.length - 4096);
  writeFileSync(file, bytes);
}

/** Why a restore was refused. */
function refusal(copy: string, directory: string, force = true): [string, string] {
  try {
    restoreDatabase(copy, databaseIn(directory), force);
  } catch (error) {
    if (error instanceof StoreError) return [error.reason, error.message];
    throw error;
  }
  throw new Error('It was restored.');
}
