// One model at several prices in one session: each price has a line and transfers of its own, and all sums are exact.
import { describe, expect, test } from 'vitest';
import { CONFIGURATIONS_MAX } from '../../../../src/api/bounds.ts';
import { lineCostMicroUsd } from '../../../../src/config/prices/price.ts';
import type { UsageLine } from '../../../../src/money/store/calls.ts';
import { LINES_MAX } from '../../../../src/money/store/checks.ts';
import { StoreError } from '../../../../src/store/store-error.ts';
import { endOf, headOf, holdOf, ledgerRig, lineOf, perMinute } from '../../../fakes/store/ledger.ts';

const PLAIN = perMinute(60_000n);
const DEARER = perMinute(90_000n);
const MODEL = 'loopback/script';

function begin() {
  const rig = ledgerRig();
  const who = rig.customer({ credit: 10_000_000n });
  return { ...rig, who, head: headOf(who, `ses_abc123${'1'.padEnd(32, '0')}`) };
}

const at = (rate: number, audioMs: number, price = DEARER): UsageLine => lineOf(audioMs, price, { rate });
const shown = ({ model, rate, audioMs, costMicroUsd }: UsageLine & { costMicroUsd: bigint }) => [
  ...[model, rate, audioMs, costMicroUsd],
];

describe('a model at two prices', () => {
  test('gets a line for each, which grow separately, and the audit agrees', () => {
    const { ledger, who, head } = begin();
    ledger.openSession(head, holdOf(500_000n));
    ledger.renewHold(head, [lineOf(30_000, PLAIN)], holdOf(500_000n));
    ledger.renewHold(head, [lineOf(30_000, PLAIN), at(1, 10_000)], holdOf(500_000n));
    const end = endOf([lineOf(40_000, PLAIN), at(1, 20_001)], { audioMs: 60_001 });
    const record = ledger.settleSession(head, end);
    expect(record.lines.map(shown)).toEqual([
      [MODEL, undefined, 40_000, 40_000n],
      [MODEL, 1, 20_001, 30_002n],
    ]);
    expect(record.costMicroUsd).toBe(70_002n);
    expect(ledger.findSession(who.organisationId, head.id)).toEqual(record);
    expect(ledger.balanceOf(who.organisationId).balanceMicroUsd).toBe(10_000_000n - 70_002n);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
  });

  test('gets separate transfers for each, under the ids used before for the first price', () => {
    const { ledger, head } = begin();
    ledger.settleSession(head, endOf([lineOf(30_000, PLAIN), at(1, 10_000), at(2, 10_000, PLAIN)]));
    const ids = ledger.exportLedger(0, 10).filter(({ kind }) => kind === 'usage');
    expect(ids.map(({ id, microUsd }) => [id, microUsd])).toEqual([
      [`${head.id}:${MODEL}:0:1`, 30_000n],
      [`${head.id}:${MODEL}:0:1:rate-1`, 15_000n],
      [`${head.id}:${MODEL}:0:1:rate-2`, 10_000n],
    ]);
  });

  test('fills one row of the usage and the bill, with the sum of both', () => {
    const { ledger, who, head } = begin();
    ledger.settleSession(head, endOf([lineOf(30_000, PLAIN), at(1, 10_000)]));
    const row = { sessions: 1, audioMs: 40_000, costMicroUsd: 45_000n };
    const { organisationId } = who;
    expect(ledger.usageOf({ organisationId, from: '2026-01-01', to: '2027-01-01', groupBy: 'model' })).toMatchObject([
      { group: MODEL, ...row },
    ]);
    expect(ledger.billOf(organisationId, '2026-11')).toMatchObject({
      lines: [{ model: MODEL, ...row }],
      totalMicroUsd: 45_000n,
    });
  });

  test('stays separate in the audit', () => {
    const { ledger, database, head } = begin();
    ledger.settleSession(head, endOf([lineOf(30_000, PLAIN), at(1, 10_000)]));
    database.exec('DROP TRIGGER session_lines_grow; UPDATE session_lines SET price_micro_usd = 120000 WHERE rate = 1');
    expect(ledger.auditLedger().faults[0]).toBe(
      `The line of session ${head.id} with ${MODEL} at rate 1 is billed 0.015 USD; its audio costs 0.02 USD.`,
    );
  });

  test('cannot change which is which: the line of a price keeps its rate', () => {
    const { ledger, database, head } = begin();
    ledger.settleSession(head, endOf([lineOf(30_000, PLAIN), at(1, 10_000)]));
    expect(() => database.exec('UPDATE session_lines SET rate = 2 WHERE rate = 1')).toThrow(/only grows/);
    const again = () => ledger.renewHold({ ...head, id: 'ses_2' }, [at(1, 10_000, PLAIN)], holdOf(0n));
    ledger.openSession({ ...head, id: 'ses_2' }, holdOf(500_000n));
    ledger.renewHold({ ...head, id: 'ses_2' }, [at(1, 10_000)], holdOf(500_000n));
    expect(again).toThrow('keeps the price');
  });

  test('bills later usage of a lost session at each price', () => {
    const { ledger, who, head } = begin();
    ledger.openSession(head, holdOf(500_000n));
    ledger.renewHold(head, [lineOf(30_000, PLAIN), at(1, 10_000)], holdOf(0n));
    ledger.closeLost('abc123', '2026-11-21T12:03:00.000Z');
    const end = endOf([lineOf(30_000, PLAIN), at(1, 20_000), at(2, 6_000, perMinute(10_000n))]);
    expect(ledger.settleSession(head, end).costMicroUsd).toBe(30_000n + 30_000n + 1_000n);
    const late = ledger.findSession(who.organisationId, `${head.id}:late`);
    expect(late?.lines.map(shown)).toEqual([
      [MODEL, 1, 10_000, 15_000n],
      [MODEL, 2, 6_000, 1_000n],
    ]);
    expect(ledger.auditLedger().faults).toEqual([]);
  });
});

describe('lines of a session', () => {
  test('may be as many as it could ever have: a model, its fallbacks and the last resort for every change of it', () => {
    const { ledger, head } = begin();
    expect([LINES_MAX, CONFIGURATIONS_MAX]).toEqual([1_010, 100]);
    const lines = Array.from({ length: LINES_MAX }, (_, rate) => at(rate, 1_000 + rate, perMinute(BigInt(rate))));
    const record = ledger.settleSession(head, endOf(lines));
    expect(record.lines).toHaveLength(LINES_MAX);
    expect(record.costMicroUsd).toBe(lines.reduce((sum, line) => sum + lineCostMicroUsd(line), 0n));
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
    const tooMany = [...lines, lineOf(1_000, PLAIN, { own: true })];
    expect(() => ledger.settleSession({ ...head, id: 'ses_2' }, endOf(tooMany))).toThrow(StoreError);
  });

  test.each([
    ['two of one price', [at(1, 1), at(1, 2)]],
    ['two of the first price', [lineOf(1), at(0, 1)]],
    ['a part of a rate', [at(0.5, 1)]],
    ['a rate below zero', [at(-1, 1)]],
    ['a rate beyond what there may be', [at(LINES_MAX, 1)]],
    ['no number', [at(Number.NaN, 1)]],
  ])('fail with %s', (_, lines) => {
    const { ledger, who, head } = begin();
    expect(() => ledger.settleSession(head, endOf(lines))).toThrow(StoreError);
    expect(ledger.findSession(who.organisationId, head.id)).toBeUndefined();
  });
});
