// The rows that a call selects depend on the rows alone, not on the plan or the index that returns them.
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { createTables } from '../../../src/node/store/tables.ts';
import { EntryContext } from '../../../src/store/entry.ts';
import { keepDatabase, onPrepared } from '../../../src/store/keep-database.ts';
import { creditOf, endOf, headOf, holdOf, ledgerRig, lineOf, OPERATOR } from '../../fakes/store/ledger.ts';
import { emptyDatabase } from '../../setup/empty-database.ts';

/** Unique, at least among the rows of one person, organisation or session. */
const UNIQUE = ['number', 'id', 'session', 'address_hash', 'organisation_id', 'key', 'scope', 'token_id'];

test('limits rows only by an order that ends in a unique column', () => {
  const database = keepDatabase(new Database(emptyDatabase({ isInMemory: true })));
  const sources: string[] = [];
  onPrepared(database, (statement) => sources.push((statement as { source: string }).source));
  createTables(database, new EntryContext());
  const limited = sources.filter((source) => /\bLIMIT\b/.test(source) && !/^\s*SELECT 1 FROM/.test(source));
  expect(limited.length).toBeGreaterThan(15);
  const partial = limited.flatMap((source) =>
    source
      .split(/\bLIMIT\b/)
      .slice(0, -1)
      .map((before) => before.slice(before.lastIndexOf('ORDER BY')).trim())
      .filter((order) => !new RegExp(`^ORDER BY [^()]*\\b(?:${UNIQUE.join('|')})(?: DESC)?$`).test(order)),
  );
  expect(partial).toEqual([]);
});

test('gives holds back in one order, also when SQLite returns rows in reverse', () => {
  const ended = (isReversed: boolean) => {
    const { database, ledger, clock, customer } = ledgerRig();
    database.pragma(`reverse_unordered_selects = ${isReversed ? 'ON' : 'OFF'}`);
    const who = customer({ credit: 1_000_000n });
    for (const id of ['ses_b', 'ses_a', 'ses_c']) ledger.openSession(headOf(who, id), holdOf(100n));
    // Records the order of the writes.
    database.exec(`CREATE TEMP TABLE seen (hold INTEGER);
                   CREATE TEMP TRIGGER sees AFTER INSERT ON hold_ends BEGIN INSERT INTO seen VALUES (new.hold); END`);
    expect(ledger.endHolds(clock.nowMs)).toBe(3);
    return database.prepare('SELECT hold FROM seen ORDER BY rowid').pluck().all();
  };
  expect(ended(true)).toEqual(ended(false));
});

test('suspends the organisations of a person in the order of their ids', () => {
  const { database, ledger } = ledgerRig();
  database.pragma('reverse_unordered_selects = ON');
  const passwordHash = '$scrypt$n$salt$hash';
  const token = (byte: number) => ({ hash: new Uint8Array(32).fill(byte), sealed: 'sealed' });
  ledger.signUp({
    email: 'a@example.com',
    address: 'a@example.com',
    passwordHash,
    organisationName: 'First',
    verification: token(1),
    reset: token(2),
    client: '192.0.2.1',
    clientGroup: '192.0.2.1',
    signUpsPerDayMax: 10,
  });
  const { person } = ledger.verifyAddress(token(1).hash, passwordHash, 0n, '192.0.2.1')!;
  for (const name of ['Second', 'Third']) ledger.foundOrganisation(person.id, name, OPERATOR);
  const owned = ledger.listMemberships(person.id).map(({ id }) => id);
  expect(ledger.moveAccount(person.id, 'account.suspend', OPERATOR)).toBe(true);
  const audited = ledger.listAudit(null, 100).filter(({ action }) => action === 'organisation.suspended');
  expect(audited.map(({ target }) => target).reverse()).toEqual([...owned].sort());
});

test('refuses times that depend on the time zone of the machine, and accepts all others', () => {
  const { ledger, customer } = ledgerRig();
  const who = customer({ limit: null });
  const open = (openedAt: string) => ledger.openSession(headOf(who, `ses_${openedAt}`, { openedAt }), holdOf(0n));
  for (const openedAt of ['2026-11-21T12:00:00', '2026-11-21 12:00', 'Nov 21, 2026', '12:00Z', '']) {
    expect(() => open(openedAt), openedAt).toThrow('The time of opening is not an ISO 8601 time with its zone');
  }
  for (const openedAt of [
    '2026-11-21T12:00:00.000Z',
    '2026-11-21T12:00Z',
    '2026-11-21T12:00:00+05:30',
    '2026-11-21T12:00:00.123456-08:00',
    '2026-11-21',
  ]) {
    expect(open(openedAt), openedAt).toMatchObject({ heldMicroUsd: 0n });
  }
});

test('lists the lines of a bill in one order, also when SQLite returns rows in reverse', () => {
  const { database, ledger, customer } = ledgerRig();
  database.pragma('reverse_unordered_selects = ON');
  const who = customer({ limit: null });
  ledger.addCredit(creditOf(who.organisationId, 10n), OPERATOR);
  const lines = ['c/three', 'a/one', 'b/two'].map((model) => lineOf(1_000, undefined, { model }));
  const { lines: billed } = ledger.settleSession(headOf(who, 'ses_1'), endOf(lines));
  expect(billed.map(({ model }) => model)).toEqual(['a/one', 'b/two', 'c/three']);
});
