// One backup in its thread: a checked copy of a database in use, and what is left when it fails.
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { fetchCopy, listCopies } from '../../../src/backup/copies.ts';
import { DirectoryPlace } from '../../../src/backup/places/directory.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { backUpBeside, newestBeside } from '../../../src/node/backup/thread.ts';
import { checkCopy } from '../../../src/node/store/restore.ts';
import { keepDatabase } from '../../../src/store/keep-database.ts';
import { databaseIn, finishedDirectory, openStore } from '../../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const settingsFor = (path: string) => loadConfig({ VOXGATE_BACKUP: `file://${path}` }, { providers: [] }).backup;
const never = () => new AbortController().signal;

test('copies a database that is in use, with everything that was answered before', async () => {
  const [directory, backups] = [await finishedDirectory(), temporaryDirectory()];
  const store = await openStore(directory);
  const { id } = await store.createOrganisation('Acme', 0n, { type: 'operator', id: 'test' });
  const { id: ledger } = await store.findLedger();
  const { copy, notRemoved } = await backUpBeside(directory, settingsFor(backups), never());
  expect([copy.ledger, notRemoved]).toEqual([ledger, null]);
  expect(await newestBeside(ledger, settingsFor(backups), never())).toBe(copy.madeAtMs);
  const place = new DirectoryPlace(backups);
  expect(await listCopies(place)).toEqual([copy]);
  const file = join(temporaryDirectory(), 'fetched.db');
  await fetchCopy(place, copy, { current: undefined, previous: undefined }, file);
  expect(checkCopy(file).ok).toBe(true);
  const database = keepDatabase(new Database(file, { readonly: true }));
  expect(database.prepare('SELECT 1 FROM organisations WHERE id = ?').get(id)).toBeDefined();
  database.close();
  expect(readdirSync(directory).filter((name) => name.startsWith('backup-'))).toEqual([]);
});

test('does not store a copy of a ledger that does not agree', async () => {
  const [directory, backups] = [await finishedDirectory(), temporaryDirectory()];
  const database = keepDatabase(new Database(databaseIn(directory)));
  database.exec('UPDATE balances SET posted_micro_usd = posted_micro_usd + 1');
  database.close();
  await expect(backUpBeside(directory, settingsFor(backups), never())).rejects.toThrow('does not agree');
  expect([readdirSync(backups), readdirSync(directory)]).toEqual([[], ['voxgate.db']]);
});

test('leaves nothing in the data directory where the backup cannot be stored', async () => {
  const directory = await finishedDirectory();
  const path = join(temporaryDirectory(), 'none', 'none');
  await expect(backUpBeside(directory, settingsFor(path), never())).rejects.toThrow(
    'Cannot write to the backup directory',
  );
  expect(readdirSync(directory)).toEqual(['voxgate.db']);
});

test('removes the unfinished copy of a killed process an hour later, and no other file', async () => {
  const [directory, backups] = [await finishedDirectory(), temporaryDirectory()];
  const [left, fresh, foreign] = ['backup-1-1.db', 'backup-1-2.db', 'backup-of-monday.db'];
  for (const name of [left, fresh, foreign]) writeFileSync(join(directory, name), '');
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of [left, foreign]) utimesSync(join(directory, name), longAgo, longAgo);
  await backUpBeside(directory, settingsFor(backups), never());
  expect(readdirSync(directory).sort()).toEqual([fresh, foreign, 'voxgate.db'].sort());
});

test('ends when it is cancelled', async () => {
  const directory = await finishedDirectory();
  const backups = temporaryDirectory();
  await expect(backUpBeside(directory, settingsFor(backups), AbortSignal.abort())).rejects.toThrow('cancelled');
  const abort = new AbortController();
  const made = backUpBeside(directory, settingsFor(backups), abort.signal);
  abort.abort();
  await expect(made).rejects.toThrow('cancelled');
  expect(existsSync(databaseIn(directory))).toBe(true);
});
