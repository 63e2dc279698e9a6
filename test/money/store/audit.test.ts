// The audit notices whatever is changed behind the ledger's back, and says in a sentence what does not agree; and the file itself
// refuses such changes while its triggers are there.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costMicroUsd } from '../../../src/config/prices/price.ts';
import {
  editedCopy,
  endOf,
  headOf,
  holdOf,
  type LedgerRig,
  ledgerRig,
  lineOf,
  perMinute,
  perSession,
} from '../../fakes/store/ledger.ts';

/** Two customers; a session settled, one open and renewed, one whose hold expired; each kind of hold's end. */
function busyLedger(): LedgerRig {
  const rig = ledgerRig();
  const { ledger, clock } = rig;
  const [one, other] = [rig.customer({ credit: 1_000_000n }), rig.customer({ credit: 500_000n, dailyMax: 400_000n })];
  ledger.openSession(headOf(one, 'ses_settled'), holdOf(100_000n));
  ledger.renewHold(headOf(one, 'ses_settled'), [lineOf(20_000)], holdOf(100_000n));
  ledger.settleSession(
    headOf(one, 'ses_settled'),
    endOf([lineOf(60_000), lineOf(5_000, perMinute(1n), { own: true })]),
  );
  ledger.openSession(headOf(other, 'ses_expired'), holdOf(100_000n, 0n, 1_000));
  clock.nowMs += 1_000;
  ledger.expireHolds();
  ledger.openSession(headOf(one, 'ses_open'), holdOf(200_000n));
  ledger.renewHold(headOf(one, 'ses_open'), [lineOf(40_000, perMinute(60_000n, 50_000n))], holdOf(100_000n));
  ledger.openSession(headOf(other, 'ses_held'), holdOf(100_000n));
  expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [], sessions: 4, openHolds: 2, oldestHoldMs: 0 });
  return rig;
}

function edited(sql: string): LedgerRig['ledger'] {
  return editedCopy(busyLedger(), sql).ledger;
}

const USAGE = "(SELECT min(number) FROM transfers WHERE kind = 'usage')";
const loose = (table: string, change: string) => `
  CREATE TABLE loose AS SELECT * FROM ${table};
  ${change};
  DROP TABLE ${table};
  ALTER TABLE loose RENAME TO ${table};`;

describe('the audit finds', () => {
  test.each<[string, string, RegExp]>([
    [
      'an amount changed',
      `UPDATE transfers SET micro_usd = micro_usd + 1 WHERE number = ${USAGE}`,
      /^The transfers of session ses_settled are 0\.060001 USD in all; its lines cost 0\.06 USD\.$/,
    ],
    [
      'a transfer of usage deleted',
      `DELETE FROM transfers WHERE number = ${USAGE}`,
      /^The transfers of session ses_settled are 0\.04 USD in all/,
    ],
    [
      'all transfers of a session deleted',
      "DELETE FROM transfers WHERE kind = 'usage'",
      /^The transfers of session ses_open are 0\.00 USD in all; its lines cost 0\.05 USD\.$/,
    ],
    [
      'a credit deleted',
      "DELETE FROM transfers WHERE kind = 'top_up'",
      /^The balance of org_\S+ is 0\.89 USD; its transfers come to -0\.11 USD\.$/,
    ],
    [
      'a transfer missing',
      'DELETE FROM transfers WHERE number = 1',
      /^There are \d+ transfers, numbered up to \d+: some are missing\.$/,
    ],
    [
      'a transfer twice',
      loose(
        'transfers',
        `INSERT INTO loose SELECT number + 100, id, at, kind, debit, credit, micro_usd, session, note FROM loose WHERE number = ${USAGE}`,
      ),
      /^The transfer ses_settled:loopback\/script:0:1 happened 2 times\.$/,
    ],
    [
      'usage taken from another account',
      `UPDATE transfers SET debit = (SELECT account FROM balances WHERE account LIKE 'org%' AND account <> debit) WHERE number = ${USAGE}`,
      /^Transfer \d+ takes usage of another organisation's session from org_/,
    ],
    [
      'a line lengthened',
      "UPDATE session_lines SET audio_ms = audio_ms + 60000 WHERE model = 'loopback/script' AND own = 0 AND session = 1",
      /^The line of session ses_settled with loopback\/script is billed 0\.06 USD; its audio costs 0\.12 USD\.$/,
    ],
    [
      'a price changed',
      'UPDATE session_lines SET price_micro_usd = price_micro_usd + 1 WHERE session = 1',
      /^The line of session ses_settled with loopback\/script is billed 0\.06 USD/,
    ],
    [
      'a minimum changed',
      'UPDATE session_lines SET minimum_micro_usd = minimum_micro_usd + 1 WHERE minimum_micro_usd > 0',
      /^The line of session ses_open .* its audio costs 0\.050001 USD\.$/,
    ],
    [
      'an own key billed',
      'UPDATE session_lines SET cost_micro_usd = 1 WHERE own = 1',
      /is billed 0\.000001 USD; its audio costs 0\.00 USD\.$/,
    ],
    [
      'a line and its cost changed alike',
      'UPDATE session_lines SET audio_ms = 61000, cost_micro_usd = 61000 WHERE session = 1 AND own = 0',
      /^The transfers of session ses_settled are 0\.06 USD in all; its lines cost 0\.061 USD\.$/,
    ],
    [
      'a line deleted',
      'DELETE FROM session_lines WHERE session = 1',
      /^The transfers of session ses_settled are 0\.06 USD in all; its lines cost 0\.00 USD\.$/,
    ],
    [
      'a settlement changed',
      'UPDATE session_ends SET cost_micro_usd = 1',
      /^Session ses_settled was settled at 0\.000001 USD; its lines cost 0\.06 USD\.$/,
    ],
    [
      'a settlement deleted with its hold still ended',
      "DELETE FROM session_ends; INSERT INTO session_ends SELECT number, organisation_id, opened_at, opened_at, 'x', NULL, 0, 0 FROM sessions WHERE id = 'ses_held'",
      /^Session ses_held is settled and hold \d+ of it is open\.$/,
    ],
    [
      'a balance changed',
      "UPDATE balances SET posted_micro_usd = posted_micro_usd + 1 WHERE account = 'house:revenue'",
      /^The balance of house:revenue is 0\.110001 USD; its transfers come to 0\.11 USD\.$/,
    ],
    [
      'a sum that is not 0',
      "UPDATE balances SET posted_micro_usd = posted_micro_usd + 1 WHERE account = 'house:revenue'",
      /^All accounts come to 0\.000001 USD in all; they must come to 0\.$/,
    ],
    [
      'a balance gone',
      "DELETE FROM balances WHERE account = 'house:revenue'",
      /^The balance of house:revenue is 0\.00 USD; its transfers come to 0\.11 USD\.$/,
    ],
    [
      'what is held changed',
      'UPDATE balances SET held_micro_usd = held_micro_usd + 1 WHERE held_micro_usd > 0',
      /^0\.100001 USD is held for org_\S+; its open holds are 0\.10 USD\.$/,
    ],
    [
      'what is held for a key changed',
      'UPDATE key_holds SET micro_usd = 0',
      /^0\.00 USD is held for key key_\S+; its open holds are 0\.10 USD\.$/,
    ],
    [
      'the spend of a day changed',
      'UPDATE key_spend SET micro_usd = micro_usd - 1',
      /^The spend of key key_\S+ on 2026-11-21 is 0\.109999 USD; its transfers come to 0\.11 USD\.$/,
    ],
    [
      'a hold that ended twice',
      loose('hold_ends', 'INSERT INTO loose SELECT * FROM loose LIMIT 1'),
      /^Hold 1 ended 2 times\.$/,
    ],
    [
      'the end of a hold that was never made',
      "INSERT INTO hold_ends VALUES (99, 'void', 0, 0)",
      /^Hold 99 ended but was never made\.$/,
    ],
    ['the end of a hold deleted', 'DELETE FROM hold_ends WHERE hold = 1', /^Hold 1 is open but not listed as open\.$/],
    [
      'an end that is not listed',
      "INSERT INTO hold_ends SELECT hold, 'void', 0, 0 FROM open_holds",
      /^Hold \d+ is listed as open but is not\.$/,
    ],
    [
      'a hold made larger',
      'UPDATE holds SET micro_usd = micro_usd * 2',
      /^0\.10 USD is held for org_\S+; its open holds are 0\.20 USD\.$/,
    ],
    [
      'a hold long after its lease',
      'UPDATE open_holds SET lease_end_ms = lease_end_ms - 120001',
      /^The hold of session ses_\w+ is open 60001 ms after its lease\.$/,
    ],
  ])('%s', (_, sql, sentence) => {
    const audit = edited(sql).auditLedger();
    expect(audit.ok).toBe(false);
    expect(audit.faults).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
    for (const fault of audit.faults) expect(fault).toMatch(/^[A-Z0-9][^\n]*\.$/);
  });

  test('stops at a readable number of faults', () => {
    const rows = "SELECT value + 1000, 'void', 0, 0 FROM json_each((SELECT json_group_array(value) FROM generate))";
    const audit = edited(
      `CREATE TABLE generate AS WITH RECURSIVE n (value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n LIMIT 500) SELECT value FROM n;
       INSERT INTO hold_ends ${rows}`,
    ).auditLedger();
    expect(audit.faults).toHaveLength(100);
  });
});

test('finds nothing when nothing was changed, and a slightly late hold', () => {
  expect(edited('').auditLedger()).toMatchObject({ ok: true, faults: [] });
  expect(edited('UPDATE open_holds SET lease_end_ms = lease_end_ms - 120000').auditLedger().faults).toEqual([]);
});

describe('the file refuses', () => {
  test.each([
    ['a transfer changed', 'UPDATE transfers SET micro_usd = 1'],
    ['a transfer deleted', 'DELETE FROM transfers'],
    ['a hold changed', 'UPDATE holds SET micro_usd = 1'],
    ['a hold deleted', 'DELETE FROM holds'],
    ['the end of a hold changed', 'UPDATE hold_ends SET ended_at_ms = 1'],
    ['the end of a hold deleted', 'DELETE FROM hold_ends'],
    ['a session changed', "UPDATE sessions SET model = 'x'"],
    ['a session deleted', 'DELETE FROM sessions'],
    ['a settlement changed', 'UPDATE session_ends SET cost_micro_usd = 0'],
    ['a settlement deleted', 'DELETE FROM session_ends'],
    ['a line made shorter', 'UPDATE session_lines SET audio_ms = audio_ms - 1'],
    ['a connection made shorter', 'UPDATE session_lines SET connection_ms = connection_ms - 1'],
    ['a line made cheaper', 'UPDATE session_lines SET cost_micro_usd = cost_micro_usd - 1 WHERE cost_micro_usd > 0'],
    ['a line with another price', 'UPDATE session_lines SET price_micro_usd = price_micro_usd + 1'],
    ['a line deleted', 'DELETE FROM session_lines'],
    ['a hold ended twice', 'INSERT INTO hold_ends SELECT * FROM hold_ends'],
    ['a second open hold of a session', 'INSERT INTO open_holds SELECT * FROM open_holds'],
    [
      'a transfer that happened already',
      'INSERT INTO transfers SELECT number + 100, id, at, kind, debit, credit, micro_usd, session, note FROM transfers',
    ],
    [
      'a transfer of nothing',
      "INSERT INTO transfers VALUES (99, 'x', '', 'top_up', 'house:payments', 'house:revenue', 0, NULL, '')",
    ],
    [
      'a transfer to an account that is not there',
      "INSERT INTO transfers VALUES (99, 'x', '', 'top_up', 'house:payments', 'org_none', 1, NULL, '')",
    ],
    ['less than nothing held', 'UPDATE balances SET held_micro_usd = -1'],
  ])('%s', (_, sql) => {
    const { database, ledger } = busyLedger();
    expect(() => database.exec(sql)).toThrow(/only grows|constraint failed/);
    expect(ledger.auditLedger().faults).toEqual([]);
  });
});

test('computes the billed cost for any price and length', () => {
  const { ledger, customer, database } = ledgerRig();
  const who = customer({ limit: null });
  const amount = fc.oneof(fc.bigInt({ min: 0n, max: 100_000n }), fc.bigInt({ min: 0n, max: 10n ** 12n }));
  const length = fc.oneof(fc.integer({ min: 0, max: 120_000 }), fc.integer({ min: 0, max: 10 ** 10 }));
  let count = 0;
  const property = fc.property(
    amount,
    amount,
    length,
    fc.boolean(),
    fc.boolean(),
    (price, minimum, ms, byTheMinute, own) => {
      const line = lineOf(ms, byTheMinute ? perMinute(price, minimum) : perSession(price, minimum), { own });
      const record = ledger.settleSession(headOf(who, `ses_${++count}`), endOf([line], { audioMs: 0 }));
      expect(record.costMicroUsd).toBe(costMicroUsd(line.price, ms, own));
    },
  );
  fc.assert(property, { numRuns: 2_000, seed: 3 });
  expect(ledger.auditLedger().faults).toEqual([]);
  database.close();
}, 60_000);
