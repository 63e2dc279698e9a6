// A copy of the database is whole or is not there; and the ledger of a file that may only be read can be audited.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { createLedgerTables } from '../../../src/money/store/tables.ts';
import { keepDatabase } from '../../../src/store/keep-database.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { endOf, headOf, ledgerRig, lineOf } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

function refusal(call: () => unknown): StoreError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    return error as StoreError;
  }
  throw new Error('It was not refused.');
}

describe('backup', () => {
  test('writes a whole copy that opens and balances, for this user alone', () => {
    const directory = temporaryDirectory();
    const { ledger, customer, database } = ledgerRig(join(directory, 'voxgate.db'));
    const who = customer({ credit: 50_000n });
    ledger.settleSession(headOf(who, 'ses_1'), endOf([lineOf(1_000)]));
    const copy = join(directory, 'copy of it.db');
    // Also while calls share a commit.
    database.exec('BEGIN IMMEDIATE');
    const { pages } = ledger.backup(copy);
    database.exec('COMMIT');
    expect(pages * 4096).toBe(statSync(copy).size);
    if (process.platform !== 'win32') expect(statSync(copy).mode & 0o777).toBe(0o600);
    const restored = ledgerRig(copy);
    expect(restored.ledger.auditLedger()).toMatchObject({ ok: true, sessions: 1, transfers: 2 });
    expect(restored.ledger.findSession(who.organisationId, 'ses_1')).toEqual(
      ledger.findSession(who.organisationId, 'ses_1'),
    );
    restored.database.close();
    database.close();
  });

  test('never touches a file that is there, and leaves none behind when it fails', () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'voxgate.db');
    const { ledger, database } = ledgerRig(file);
    const taken = join(directory, 'taken');
    writeFileSync(taken, '');
    expect(refusal(() => ledger.backup(taken))).toMatchObject({
      reason: 'invalid',
      message: `The file ${JSON.stringify(taken)} is there already: name one that is not, or move it away.`,
    });
    expect(statSync(taken).size).toBe(0);
    expect(refusal(() => ledger.backup(file)).reason).toBe('invalid');
    expect(refusal(() => ledger.backup(join(directory, 'none', 'copy.db'))).message).toContain('ENOENT');
    // What is not a database cannot be copied.
    database.close();
    writeFileSync(file, 'This is a letter to my aunt.'.repeat(100));
    expect(() => ledger.backup(join(directory, 'copy.db'))).toThrow();
    expect(readdirSync(directory).sort()).toEqual(['taken', 'voxgate.db']);
  });

  test('audits the ledger of a read-only file', () => {
    const file = join(temporaryDirectory(), 'voxgate.db');
    const first = ledgerRig(file);
    first.customer({ credit: 1n });
    first.database.close();
    const database = keepDatabase(new Database(file, { readonly: true }));
    const context = { database, nowMs: Date.now, nowText: () => '', audit: () => {}, outbox: () => {} };
    expect(createLedgerTables(context).auditLedger()).toMatchObject({ ok: true, transfers: 1 });
    database.close();
  });
});
