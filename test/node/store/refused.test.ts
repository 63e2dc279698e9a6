// Databases that cannot be opened: each is refused with a sentence that says what to do.
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { isOlderVersion } from '../../../src/runtime/version.ts';
import { keepDatabase } from '../../../src/store/keep-database.ts';
import { MIGRATIONS } from '../../../src/store/migrations.ts';
import { SQLITE_VERSION_MIN } from '../../../src/store/open-database.ts';
import { openError, StoreError } from '../../../src/store/store-error.ts';
import { databaseIn, finishedDirectory, openStore, runBeside } from '../../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

/** The sentence with which a directory is refused. */
async function refusal(directory: string): Promise<string> {
  const error: unknown = await openStore(directory).then(
    () => new Error('It was opened.'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error).toMatchObject({ reason: 'cannot_open', message: expect.stringMatching(/^The database "[^\n]+\.$/) });
  return (error as StoreError).message;
}

describe('the message for a database that cannot be used', () => {
  test('names a newer schema', async () => {
    const directory = await finishedDirectory();
    const database = keepDatabase(new Database(databaseIn(directory)));
    database.pragma('user_version = 99');
    database.close();
    expect(await refusal(directory)).toContain(
      `has schema 99 and this version knows ${MIGRATIONS.length}: install a newer version.`,
    );
  });

  test('names a file that is not a database', async () => {
    const directory = temporaryDirectory();
    writeFileSync(databaseIn(directory), 'This is a letter to my aunt.'.repeat(100));
    expect(await refusal(directory)).toContain('is damaged or is no SQLite file: restore it from a backup');
  });

  test('names a database with a damaged page', async () => {
    const directory = await finishedDirectory();
    const bytes = readFileSync(databaseIn(directory));
    bytes.fill(0xff, 4096 + 8, 4096 + 400);
    writeFileSync(databaseIn(directory), bytes);
    expect(await refusal(directory)).toMatch(/is damaged/);
  });

  test('names a directory that is a file', async () => {
    const file = join(temporaryDirectory(), 'data');
    writeFileSync(file, '');
    expect(await refusal(file)).toContain('check that its directory is a directory');
  });

  test('names a database that is a directory', async () => {
    const directory = temporaryDirectory();
    mkdirSync(databaseIn(directory));
    expect(await refusal(directory)).toContain('(EISDIR)');
  });

  // Windows has no such rights.
  test.skipIf(process.platform === 'win32')(
    'names a read-only directory, with or without a database in it',
    async () => {
      for (const directory of [temporaryDirectory(), await finishedDirectory()]) {
        if (existsSync(databaseIn(directory))) chmodSync(databaseIn(directory), 0o444);
        chmodSync(directory, 0o555);
        // The superuser may write anywhere.
        const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
        const reader = runBeside(
          directory,
          'openSqliteStore({ directory }).catch((error) => process.send(error.message));',
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

  test('names a directory that cannot be watched, as opposed to a full disk', () => {
    const error = Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'watch' });
    expect(openError(error, 'f').message).toContain('raise the system');
  });

  test('names a library without its compiled part', () => {
    expect(openError(new Error('Could not locate the bindings file. Tried:\n → x'), 'f').message).toContain(
      'npm rebuild',
    );
  });

  test('names an SQLite that can lose a commit', () => {
    const old = ['3.51.2', '3.50.9', '2.99.99', '3.51', '3'];
    const good = ['3.51.3', '3.51.10', '3.52.0', '4.0.0', '3.53.2'];
    const isOldVersion = (version: string) => isOlderVersion(version, SQLITE_VERSION_MIN);
    expect(old.map(isOldVersion)).toEqual(old.map(() => true));
    expect(good.map(isOldVersion)).toEqual(good.map(() => false));
  });
});
