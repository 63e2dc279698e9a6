// What the audit says of charges: each kind of fault is put by hand into a copy of a good database, and has its sentence; and what
// was decided on purpose is listed, and is no fault.
import { describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../../src/store/migrations.ts';
import {
  creditOf,
  editedCopy,
  endOf,
  headOf,
  holdOf,
  type LedgerRig,
  ledgerRig,
  lineOf,
  OPERATOR,
  perMinute,
} from '../../fakes/store/ledger.ts';

const PRICE = perMinute(60_000n);
const file = (audioMs: number, channels: number, audioMsMax: number) =>
  endOf([lineOf(audioMs * channels, PRICE)], {
    audioMs,
    reason: 'completed',
    file: { audioMs, channels, audioMsMax },
  });

/** A file with two channels, one that two models have transcribed, one that was not charged, a live session, one that is open, and one that nobody renewed. */
function goodLedger(): LedgerRig {
  const rig = ledgerRig();
  const { ledger, clock } = rig;
  const [one, other] = [rig.customer({ credit: 1_000_000n }), rig.customer({ credit: 100_000n })];
  const files = { mode: 'batch' } as const;
  ledger.openSession(headOf(one, 'req_two', files), holdOf(20_001n));
  ledger.settleSession(headOf(one, 'req_two', files), file(9_000, 2, 10_000));
  ledger.openSession(headOf(one, 'req_parts', files), holdOf(20_001n));
  const parts = [lineOf(6_000, PRICE), lineOf(3_000, PRICE, { model: 'loopback/numbered' })];
  const bill = { audioMs: 9_000, channels: 1, audioMsMax: 10_000 };
  ledger.settleSession(
    headOf(one, 'req_parts', files),
    endOf(parts, { audioMs: 9_000, reason: 'completed', file: bill }),
  );
  ledger.openSession(headOf(one, 'req_failed', files), holdOf(20_001n));
  ledger.settleSession(headOf(one, 'req_failed', files), endOf([], { reason: 'released' }));
  ledger.openSession(headOf(one, 'ses_live'), holdOf(60_001n));
  ledger.renewHold(headOf(one, 'ses_live'), [lineOf(20_000, PRICE, { connectionMs: 30_000 })], holdOf(60_001n));
  ledger.settleSession(headOf(one, 'ses_live'), endOf([lineOf(50_000, PRICE, { connectionMs: 60_000 })]));
  ledger.openSession(headOf(other, 'ses_open'), holdOf(60_001n));
  ledger.openSession(headOf(other, 'req_late', files), holdOf(10_001n, 0n, 1_000));
  clock.nowMs += 1_000;
  ledger.expireHolds();
  ledger.settleSession(headOf(other, 'req_late', files), file(10_000, 1, 10_000));
  expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [], sessions: 6, openHolds: 1 });
  return rig;
}

const sessionOf = (id: string) => `(SELECT number FROM sessions WHERE id = '${id}')`;
const LATE = 'Session req_late was charged 0.01 USD with 0.00 USD held: its hold had expired';

describe('the audit finds', () => {
  test.each<[string, string, RegExp]>([
    [
      'a balance below the credit limit',
      `UPDATE balances SET posted_micro_usd = -3360000 WHERE account IN (SELECT organisation_id FROM sessions WHERE id = 'req_two')`,
      /^The balance of org_\S+ is -3\.36 USD, below its credit limit of 0\.00 USD, without a recorded reason\.$/,
    ],
    [
      'a charge of a file beyond its hold',
      `UPDATE holds SET micro_usd = 10000 WHERE session = ${sessionOf('req_two')}`,
      /^Session req_two was charged 0\.018 USD on a hold of 0\.01 USD, without a recorded reason\.$/,
    ],
    [
      'a charge of a live session beyond its hold',
      `UPDATE holds SET micro_usd = 10000 WHERE session = ${sessionOf('ses_live')}`,
      /^Session ses_live was charged 0\.03 USD on a hold of 0\.01 USD, without a recorded reason\.$/,
    ],
    [
      'a charge without a hold, whose reason is gone',
      'DELETE FROM charges_beyond_holds',
      /^Session req_late was charged 0\.01 USD; its holds and its charges with a recorded reason are 0\.00 USD\.$/,
    ],
    [
      'more seconds than a file can hold',
      `UPDATE file_charges SET audio_ms_max = 1000 WHERE session = ${sessionOf('req_two')}`,
      /^File req_two is charged for 9 s of audio; it can contain 1 s\.$/,
    ],
    [
      'channels that do not multiply out',
      `UPDATE file_charges SET channels = 8 WHERE session = ${sessionOf('req_two')}`,
      /^The bill of file req_two with loopback\/script has 18 s of audio; its seconds times its channels are 72 s\.$/,
    ],
    [
      'time of a connection that does not multiply out',
      `UPDATE session_lines SET connection_ms = 90000 WHERE session = ${sessionOf('ses_live')}`,
      /^The line of session ses_live with loopback\/script is billed 0\.06 USD; its open connection costs 0\.09 USD\.$/,
    ],
    [
      'a file that was answered and has no line',
      `DELETE FROM session_lines WHERE session = ${sessionOf('req_two')}`,
      /^Session req_two had answers for 9 s of audio but has no line\.$/,
    ],
    [
      'a hold from the future',
      'UPDATE holds SET made_at_ms = made_at_ms + 3600000, lease_end_ms = lease_end_ms + 3600000 WHERE number IN (SELECT hold FROM open_holds)',
      /^The hold of session ses_open was made 35\d\d s in the future: a clock was set back\.$/,
    ],
    [
      'a live session whose node is gone',
      `UPDATE sessions SET opened_at = '2026-11-18T12:00:00.000Z' WHERE id = 'ses_open'; DELETE FROM open_holds`,
      /^Session ses_open has been open for more than 2 days and has no hold: its node is gone, and no other node closed it\.$/,
    ],
  ])('%s', (_, sql, sentence) => {
    const audit = editedCopy(goodLedger(), sql).ledger.auditLedger();
    expect(audit.ok).toBe(false);
    expect(audit.faults).toEqual(expect.arrayContaining([expect.stringMatching(sentence)]));
    for (const fault of audit.faults) expect(fault).toMatch(/^[A-Z0-9][^\n]*\.$/);
  });
});

describe('a file that was never held for', () => {
  test.each([
    ['is held for with its charge where neither credit nor spend has an end', { limit: null }, 0],
    ['is charged, and that is a decision, where its credit has an end', { credit: 1_000_000n }, 1],
    [
      'is charged, and that is a decision, where its key has spent enough for the day',
      { limit: null, dailyMax: 5_000n },
      1,
    ],
  ])('%s', (_, of: Parameters<LedgerRig['customer']>[0], decisions) => {
    const { ledger, customer } = ledgerRig();
    const who = customer(of);
    const head = headOf(who, 'req_brief', { mode: 'batch' });
    const before = ledger.balanceOf(who.organisationId).balanceMicroUsd;
    ledger.settleSession(head, file(10_000, 1, 10_000));
    ledger.settleSession(head, file(10_000, 1, 10_000));
    const { balanceMicroUsd, heldMicroUsd } = ledger.balanceOf(who.organisationId);
    expect([before - balanceMicroUsd, heldMicroUsd]).toEqual([10_000n, 0n]);
    const audit = ledger.auditLedger();
    expect([audit.faults, audit.decisions.length, audit.openHolds]).toEqual([[], decisions, 0]);
  });
});

describe('a charge beyond its hold', () => {
  test('costs the full amount, recorded with its reason, where the hold was lost', () => {
    expect(goodLedger().ledger.auditLedger().decisions).toEqual([expect.stringContaining(LATE)]);
  });

  test.each([
    ['nothing was held', 0n, {}, 'it never had a hold'],
    ['the ledger did not answer meanwhile', 10_000n, { onTrust: true }, 'it continued on trust'],
  ])('counts as correct where %s, also when the balance falls below zero', (_, held, more, reason) => {
    const { ledger, customer } = ledgerRig();
    const head = headOf(customer({ credit: 30_000n }), 'ses_1');
    ledger.openSession(head, holdOf(held));
    ledger.settleSession(head, endOf([lineOf(60_000)], more));
    expect(ledger.balanceOf(head.organisationId).balanceMicroUsd).toBe(-30_000n);
    expect(ledger.auditLedger()).toMatchObject({
      ok: true,
      faults: [],
      decisions: [expect.stringContaining(reason)],
    });
  });

  test('counts as a fault where nothing was lost: the hold was too small', () => {
    const { ledger, customer } = ledgerRig();
    const head = headOf(customer({ credit: 30_000n }), 'req_1', { mode: 'batch' });
    ledger.openSession(head, holdOf(10_000n));
    ledger.settleSession(head, file(60_000, 1, 60_000));
    expect(ledger.auditLedger()).toMatchObject({
      ok: false,
      faults: [
        expect.stringContaining(`${head.organisationId} is -0.03 USD`),
        'Session req_1 was charged 0.06 USD on a hold of 0.01 USD, without a recorded reason.',
      ],
      decisions: [],
    });
  });
});

test('reports a charge without a hold, though no lease ended, as a fault', () => {
  const { ledger, customer } = ledgerRig();
  const head = headOf(customer({ credit: 1_000_000n }), 'ses_1');
  ledger.openSession(head, holdOf(60_001n));
  ledger.renewHold(head, [], holdOf(0n));
  ledger.settleSession(head, endOf([lineOf(60_000)]));
  expect(ledger.auditLedger()).toMatchObject({
    ok: false,
    faults: [expect.stringMatching(/^Session ses_1 was charged 0\.06 USD; its holds .* are 0\.00 USD\.$/)],
    decisions: [],
  });
});

describe('a renewed hold whose charge is correct', () => {
  type Change = (rig: LedgerRig, name: ReturnType<LedgerRig['customer']>) => void;
  test.each<[string, Change]>([
    ['credit is taken back', ({ ledger }, name) => ledger.addCredit(creditOf(name.organisationId, -80_000n), OPERATOR)],
    [
      'the credit limit is lowered',
      ({ ledger }, { organisationId }) => {
        ledger.setCreditLimit(organisationId, 100_000n, OPERATOR);
        ledger.addCredit(creditOf(organisationId, -100_000n), OPERATOR);
        ledger.setCreditLimit(organisationId, 0n, OPERATOR);
      },
    ],
    [
      'the key may spend less in a day',
      ({ ledger }, { organisationId, keyId }) =>
        ledger.changeKey(organisationId, keyId, { dailySpendMicroUsdMax: 1n }, OPERATOR),
    ],
    [
      'another one is charged after its lease was over',
      ({ ledger, clock }, name) => {
        const late = headOf(name, 'ses_late');
        ledger.openSession(late, holdOf(30_000n, 0n, 1_000));
        clock.nowMs += 1_000;
        ledger.expireHolds();
        ledger.settleSession(late, endOf([lineOf(90_000)]));
      },
    ],
  ])('%s', (_, change) => {
    const rig = ledgerRig();
    const name = rig.customer({ credit: 100_000n });
    const [live, file] = [headOf(name, 'ses_1'), headOf(name, 'req_1', { mode: 'batch' })];
    rig.ledger.openSession(live, holdOf(30_001n));
    rig.ledger.openSession(file, holdOf(30_001n));
    change(rig, name);
    // Ten of its thirty seconds are settled, and twenty sent.
    expect(rig.ledger.renewHold(live, [lineOf(10_000)], holdOf(80_000n))).toMatchObject({ heldMicroUsd: 20_001n });
    expect(rig.ledger.renewHold(file, [], holdOf(30_001n))).toEqual({ heldMicroUsd: 30_001n, limitedBy: null });
    rig.ledger.settleSession(live, endOf([lineOf(30_000)]));
    rig.ledger.settleSession(file, endOf([lineOf(30_000)]));
    expect(rig.ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
  });
});

describe('a balance below zero that is correct', () => {
  test('follows an adjustment, or a limit that was changed since', () => {
    const { ledger, customer } = ledgerRig();
    const one = customer({ credit: 10_000n });
    ledger.addCredit(creditOf(one.organisationId, -50_000n), OPERATOR);
    const other = customer({ limit: 100_000n });
    const head = headOf(other, 'ses_1');
    ledger.openSession(head, holdOf(60_001n));
    ledger.settleSession(head, endOf([lineOf(60_000)]));
    ledger.setCreditLimit(other.organisationId, 0n, OPERATOR);
    const unlimited = customer({ limit: null });
    ledger.openSession(headOf(unlimited, 'ses_2'), holdOf(60_001n));
    ledger.settleSession(headOf(unlimited, 'ses_2'), endOf([lineOf(60_000)]));
    ledger.setCreditLimit(unlimited.organisationId, 0n, OPERATOR);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
  });
});

test('lists charges of a database without reasons as such, and not as faults', () => {
  const { database } = goodLedger();
  const before = `DROP TABLE file_charges; DROP TABLE charges_beyond_holds; DROP INDEX holds_by_session;
    UPDATE holds SET micro_usd = 10000 WHERE session = ${sessionOf('ses_live')}`;
  const copy = editedCopy({ database, clock: { nowMs: Date.now() } }, before);
  const migration = MIGRATIONS.find((sql) => sql.includes('charges_beyond_holds'));
  copy.database.exec(migration!);
  // By their transfers: holds that are smaller than they were do not add up to what is held.
  const { faults, decisions } = copy.ledger.auditLedger();
  expect(faults.filter((fault) => fault.includes('charged'))).toEqual([]);
  expect(decisions).toHaveLength(3);
  for (const decision of decisions) expect(decision).toContain('reasons were not recorded at that time');
});
