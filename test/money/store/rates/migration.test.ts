// A ledger from before a model could have several prices in a session: nothing of it changes, and sessions that are open go on.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { keepDatabase } from '../../../../src/store/keep-database.ts';
import { MIGRATIONS, rates } from '../../../../src/store/migrations.ts';
import { headOf, holdOf, ledgerRig, lineOf, perMinute } from '../../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../../fakes/temporary-directory.ts';

const OPENED = '2026-11-21T12:00:00.000Z';
const WHO = { organisationId: 'org_1', keyId: 'key_1' };

/** A ledger of the version before, with a session that has ended, and one that is open, on two models. */
function databaseBefore(): string {
  const file = join(temporaryDirectory(), 'voxgate.db');
  const before = MIGRATIONS.slice(0, MIGRATIONS.indexOf(rates));
  const old = keepDatabase(new Database(file));
  for (const migration of before) old.exec(migration);
  old.pragma(`user_version = ${before.length}`);
  old.exec(`
    INSERT INTO organisations (id, name, created_at, credit_limit_micro_usd) VALUES ('org_1', 'Ada', '${OPENED}', NULL);
    INSERT INTO balances (account, posted_micro_usd) VALUES ('org_1', -80000);
    UPDATE balances SET posted_micro_usd = 80000 WHERE account = 'house:revenue';
    INSERT INTO sessions (number, id, organisation_id, key_id, mode, model, opened_at) VALUES
      (1, 'ses_ended', 'org_1', 'key_1', 'live', 'loopback/script', '${OPENED}'),
      (2, 'ses_open', 'org_1', 'key_1', 'live', 'loopback/script', '${OPENED}');
    INSERT INTO session_lines
      (session, model, own, audio_ms, connection_ms, unit, price_micro_usd, minimum_micro_usd, cost_micro_usd, postings) VALUES
      (1, 'loopback/script', 0, 20000, 30000, 'minute', 60000, 0, 30000, 1),
      (1, 'loopback/script', 1, 10000, 0, 'minute', 0, 0, 0, 0),
      (2, 'loopback/script', 0, 30000, 0, 'minute', 60000, 50000, 50000, 1);
    INSERT INTO session_ends VALUES (1, 'org_1', '${OPENED}', '${OPENED}', 'client_closed', NULL, 30000, 30000);
    INSERT INTO transfers (id, at, kind, debit, credit, micro_usd, session, note) VALUES
      ('ses_ended:loopback/script:0:1', '${OPENED}', 'usage', 'org_1', 'house:revenue', 30000, 1, 'loopback/script'),
      ('ses_open:loopback/script:0:1', '${OPENED}', 'usage', 'org_1', 'house:revenue', 50000, 2, 'loopback/script');
    INSERT INTO charges_beyond_holds (session, organisation_id, at, held_micro_usd, posted_micro_usd, reason) VALUES
      (1, 'org_1', '${OPENED}', 0, 30000, 'never_held'), (2, 'org_1', '${OPENED}', 0, 50000, 'never_held');
    INSERT INTO key_spend VALUES ('key_1', '2026-11-21', 80000)`);
  old.close();
  return file;
}

test('keeps every line in an upgrade, at the first price of its model', () => {
  const { ledger, database } = ledgerRig(databaseBefore());
  expect(ledger.findSession('org_1', 'ses_ended')?.lines).toEqual([
    { ...lineOf(20_000, perMinute(60_000n)), connectionMs: 30_000, costMicroUsd: 30_000n },
    { ...lineOf(10_000, perMinute(0n)), own: true, costMicroUsd: 0n },
  ]);
  expect(ledger.findSession('org_1', 'ses_ended')?.costMicroUsd).toBe(30_000n);
  expect(ledger.auditLedger()).toMatchObject({ ok: true, sessions: 2, faults: [] });
  database.close();
});

test('lets an open session grow at its price, and add a second one', () => {
  const { ledger, database } = ledgerRig(databaseBefore());
  const first = lineOf(60_000, perMinute(60_000n, 50_000n));
  const second = lineOf(20_000, perMinute(90_000n), { rate: 1 });
  ledger.renewHold(headOf(WHO, 'ses_open'), [first, second], { ...holdOf(0n), onTrust: true });
  expect(ledger.findSession('org_1', 'ses_open')?.costMicroUsd).toBe(60_000n + 30_000n);
  expect(
    ledger
      .exportLedger(0, 10)
      .map(({ id }) => id)
      .slice(2),
  ).toEqual(['ses_open:loopback/script:0:2', 'ses_open:loopback/script:0:1:rate-1']);
  expect(ledger.auditLedger().faults).toEqual([]);
  database.close();
});

test('still refuses to forget or change a line after an upgrade', () => {
  const { database } = ledgerRig(databaseBefore());
  for (const [sql, why] of [
    ['UPDATE session_lines SET audio_ms = audio_ms - 1', 'a line of a session only grows'],
    ['UPDATE session_lines SET connection_ms = 0 WHERE connection_ms > 0', 'a line of a session only grows'],
    ['UPDATE session_lines SET price_micro_usd = price_micro_usd + 1', 'at its first price'],
    ['UPDATE session_lines SET rate = rate + 1', 'at its first price'],
    ['DELETE FROM session_lines', 'the ledger only grows'],
    ['INSERT INTO session_lines SELECT * FROM session_lines', 'UNIQUE constraint failed'],
  ] as const)
    expect(() => database.exec(sql)).toThrow(why);
  database.close();
});
