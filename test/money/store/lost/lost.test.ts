// Sessions of nodes that are gone for good: closed at what was posted, and billed for what was used beyond when somebody tells of
// it after all, to the last micro-dollar and once.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costMicroUsd } from '../../../../src/config/prices/price.ts';
import type { LedgerPrice, UsageLine } from '../../../../src/money/store/calls.ts';
import { StoreError } from '../../../../src/store/store-error.ts';
import { endOf, headOf, holdOf, ledgerRig, lineOf, perMinute, perSession } from '../../../fakes/store/ledger.ts';

const NODE = 'abc123';
const LEASE_MS = 60_000;
const idOf = (rest: string, node = NODE) => `ses_${node}${rest.padEnd(32, '0')}`;
const GONE_AT = '2026-11-21T12:03:00.000Z';

function begin() {
  const rig = ledgerRig();
  return { ...rig, who: rig.customer({ credit: 10_000_000n }) };
}

describe('closing what is lost', () => {
  test('closes live sessions of that node at what was posted of them, once their holds are over', () => {
    const { ledger, clock, who } = begin();
    ledger.openSession(headOf(who, idOf('1')), holdOf(60_000n, 0n, LEASE_MS));
    ledger.renewHold(headOf(who, idOf('1')), [lineOf(30_000)], holdOf(60_000n, 0n, LEASE_MS));
    ledger.openSession(headOf(who, idOf('2')), holdOf(0n));
    ledger.openSession(headOf(who, idOf('3', 'abc124')), holdOf(0n));
    ledger.openSession(headOf(who, 'req_1'), holdOf(0n));
    ledger.settleSession(headOf(who, idOf('4')), endOf([lineOf(1_000)]));
    expect(ledger.openNodes().sort()).toEqual(['abc123', 'abc124']);
    expect(ledger.closeLost(NODE, GONE_AT)).toBe(1);
    clock.nowMs += LEASE_MS;
    ledger.expireHolds();
    expect([ledger.closeLost(NODE, GONE_AT), ledger.closeLost(NODE, GONE_AT)]).toEqual([1, 0]);
    expect(ledger.findSession(who.organisationId, idOf('1'))).toMatchObject({
      reason: 'node_lost',
      code: null,
      endedAt: GONE_AT,
      audioMs: 30_000,
      costMicroUsd: 30_000n,
      heldMicroUsd: 0n,
    });
    expect(ledger.findSession(who.organisationId, idOf('3', 'abc124'))?.endedAt).toBeNull();
    expect(ledger.openNodes()).toEqual(['abc124']);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
  });

  test('releases all holds made by then, where no process is left', () => {
    const { ledger, who, clock } = begin();
    ledger.openSession(headOf(who, 'req_1'), holdOf(60_000n, 0n, LEASE_MS));
    ledger.openSession(headOf(who, idOf('1')), holdOf(60_000n, 0n, LEASE_MS));
    const untilMs = clock.nowMs++;
    ledger.openSession(headOf(who, 'req_2'), holdOf(50_000n, 0n, LEASE_MS));
    expect([ledger.endHolds(untilMs), ledger.endHolds(untilMs)]).toEqual([2, 0]);
    expect(ledger.balanceOf(who.organisationId).heldMicroUsd).toBe(50_000n);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
  });

  test('gives back at once what a process holds that is known to have been killed, and bills nothing for it', () => {
    const { ledger, who } = begin();
    ledger.openSession(headOf(who, idOf('1')), holdOf(60_000n, 0n, LEASE_MS));
    ledger.openSession(headOf(who, idOf('2', 'abc124')), holdOf(60_000n, 0n, LEASE_MS));
    expect(ledger.closeLost(NODE, GONE_AT, true)).toBe(1);
    expect(ledger.balanceOf(who.organisationId)).toMatchObject({
      balanceMicroUsd: 10_000_000n,
      heldMicroUsd: 60_000n,
    });
    expect(ledger.findSession(who.organisationId, idOf('1'))).toMatchObject({
      reason: 'node_lost',
      costMicroUsd: 0n,
      heldMicroUsd: 0n,
    });
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
  });

  test('closes a thousand at a time', () => {
    const { ledger, who } = begin();
    for (let index = 0; index < 1_500; index++) ledger.openSession(headOf(who, idOf(`${index}a`)), holdOf(0n));
    expect([1, 2, 3].map(() => ledger.closeLost(NODE, GONE_AT))).toEqual([1_000, 500, 0]);
  });

  test.each(['', 'abc12', 'ABC123', 'abc12%', 'abc1234'])('refuses %j as a node', (node) => {
    const { ledger } = begin();
    expect(() => ledger.closeLost(node, GONE_AT)).toThrow(StoreError);
  });
});

describe('a statement that comes after that', () => {
  const price = (): fc.Arbitrary<LedgerPrice> =>
    fc.oneof(
      fc
        .record({ microUsd: fc.bigInt(0n, 10n ** 6n), minimum: fc.bigInt(0n, 50_000n) })
        .map(({ microUsd, minimum }) => perMinute(microUsd, minimum)),
      fc.bigInt(0n, 10n ** 6n).map((microUsd) => perSession(microUsd)),
    );
  const used = fc.uniqueArray(
    fc.record({
      model: fc.constantFrom('a/one', 'b/two', 'c/three'),
      own: fc.boolean(),
      rate: fc.nat(2),
      price: price(),
      before: fc.nat(200_000),
      after: fc.nat(400_000),
      connected: fc.tuple(fc.nat(300_000), fc.nat(300_000)),
    }),
    { selector: ({ model, own, rate }) => `${model} ${own} ${rate}`, minLength: 1 },
  );

  test('bills what was used beyond, exactly and once, however often it comes', () => {
    fc.assert(
      fc.property(used, fc.integer({ min: 1, max: 3 }), (lines, times) => {
        const { ledger, clock, who } = begin();
        const head = headOf(who, idOf('1'));
        const told = lines.filter(({ before }) => before > 0);
        const line = (
          { model, own, rate, price: of }: (typeof lines)[number],
          audioMs: number,
          connectionMs: number,
        ): UsageLine => ({
          model,
          own,
          rate,
          price: of,
          audioMs,
          connectionMs,
        });
        ledger.openSession(head, holdOf(1n));
        ledger.renewHold(
          head,
          told.map((each) => line(each, each.before, each.connected[0])),
          { ...holdOf(0n), onTrust: true },
        );
        clock.nowMs += LEASE_MS;
        ledger.expireHolds();
        expect(ledger.closeLost(NODE, GONE_AT)).toBe(1);
        const end = endOf(
          lines.map((each) => line(each, each.after, each.connected[1])),
          { reason: 'recovered' },
        );
        const whole = lines.reduce(
          (sum, { price, own, before, after, connected: [first, last] }) =>
            sum + costMicroUsd(price, Math.max(before, after, before > 0 ? first : 0, last), own),
          0n,
        );
        for (let time = 0; time < times; time++) expect(ledger.settleSession(head, end).costMicroUsd).toBe(whole);
        expect(ledger.balanceOf(who.organisationId).balanceMicroUsd).toBe(10_000_000n - whole);
        const heard = ledger.usageOf({
          organisationId: who.organisationId,
          from: '2026-01-01',
          to: '2027-01-01',
          groupBy: 'model',
        });
        expect(heard.reduce((sum, row) => sum + row.audioMs, 0)).toBe(
          lines.reduce((sum, { before, after }) => sum + Math.max(before, after), 0),
        );
        expect(ledger.auditLedger().faults).toEqual([]);
      }),
      { seed: 5, numRuns: 100 },
    );
  });

  test('leaves the bill of the month that is over as it was', () => {
    const { ledger, clock, who } = begin();
    const head = headOf(who, idOf('1'));
    ledger.openSession(head, holdOf(0n));
    ledger.renewHold(head, [lineOf(30_000)], holdOf(0n));
    ledger.closeLost(NODE, GONE_AT);
    const before = ledger.billOf(who.organisationId, '2026-11');
    clock.nowMs += 15 * 86_400_000;
    ledger.settleSession(head, endOf([lineOf(60_000)], { reason: 'recovered' }));
    expect(ledger.billOf(who.organisationId, '2026-11')).toEqual(before);
    expect(ledger.billOf(who.organisationId, '2026-12')).toMatchObject({ totalMicroUsd: 30_000n });
    expect(ledger.findSession(who.organisationId, `${head.id}:late`)).toMatchObject({
      reason: 'recovered',
      audioMs: 30_000,
    });
    expect(ledger.auditLedger().ok).toBe(true);
  });

  test('bills a session that ended normally by its first statement', () => {
    const { ledger, who } = begin();
    const head = headOf(who, idOf('1'));
    ledger.settleSession(head, endOf([lineOf(30_000)]));
    expect(ledger.settleSession(head, endOf([lineOf(60_000)])).costMicroUsd).toBe(30_000n);
    expect(ledger.findSession(who.organisationId, `${head.id}:late`)).toBeUndefined();
  });
});
