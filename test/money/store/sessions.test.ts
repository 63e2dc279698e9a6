// A session's money from its first renewal to the settlement: what is posted, and what a repeated or late call does.
import { describe, expect, test } from 'vitest';
import { StoreError, type StoreErrorReason } from '../../../src/store/store-error.ts';
import { endOf, headOf, holdOf, ledgerRig, lineOf, perMinute, perSession } from '../../fakes/store/ledger.ts';

const CREDIT = 1_000_000n;

/** A cent a second: 60 cents a minute. */
const CENT_A_SECOND = perMinute(600_000n);

function reasonOf(call: () => unknown): StoreErrorReason | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).message).toMatch(/^[A-Z].*\.$/);
    return (error as StoreError).reason;
  }
}

describe('renewing', () => {
  test('posts new usage, and holds again from now', () => {
    const { ledger, customer, clock } = ledgerRig();
    const who = customer({ credit: CREDIT });
    ledger.openSession(headOf(who, 'ses_1'), holdOf(600_000n));
    clock.nowMs += 30_000;
    const line = lineOf(30_000, CENT_A_SECOND);
    expect(ledger.renewHold(headOf(who, 'ses_1'), [line], holdOf(600_000n))).toEqual({
      heldMicroUsd: 600_000n,
      limitedBy: null,
    });
    expect(ledger.balanceOf(who.organisationId)).toMatchObject({
      balanceMicroUsd: 700_000n,
      availableMicroUsd: 100_000n,
    });
    expect(ledger.auditLedger()).toMatchObject({ ok: true, openHolds: 1, oldestHoldMs: 0 });
    // The same statement again posts nothing.
    ledger.renewHold(headOf(who, 'ses_1'), [line], holdOf(600_000n));
    expect(ledger.balanceOf(who.organisationId).balanceMicroUsd).toBe(700_000n);
    clock.nowMs += 30_000;
    expect(ledger.renewHold(headOf(who, 'ses_1'), [lineOf(60_000, CENT_A_SECOND)], holdOf(600_000n))).toEqual({
      heldMicroUsd: 400_000n,
      limitedBy: 'credit',
    });
    expect(ledger.balanceOf(who.organisationId)).toMatchObject({ balanceMicroUsd: 400_000n, availableMicroUsd: 0n });
    expect(ledger.auditLedger().ok).toBe(true);
  });

  test('posts in full what is used beyond the credit, and then holds nothing', () => {
    const { ledger, customer } = ledgerRig();
    const who = customer({ credit: 100_000n });
    ledger.openSession(headOf(who, 'ses_1'), holdOf(100_000n));
    const grant = ledger.renewHold(headOf(who, 'ses_1'), [lineOf(30_000, CENT_A_SECOND)], holdOf(100_000n, 50_000n));
    expect(grant).toEqual({ heldMicroUsd: 0n, limitedBy: 'credit' });
    expect(ledger.balanceOf(who.organisationId)).toMatchObject({
      balanceMicroUsd: -200_000n,
      availableMicroUsd: -200_000n,
    });
  });

  test('leaves what another session holds', () => {
    const { ledger, customer } = ledgerRig();
    const who = customer({ credit: 100n });
    ledger.openSession(headOf(who, 'ses_1'), holdOf(80n, 1n));
    expect(ledger.openSession(headOf(who, 'ses_2'), holdOf(80n, 1n))).toEqual({
      heldMicroUsd: 20n,
      limitedBy: 'credit',
    });
    expect(reasonOf(() => ledger.openSession(headOf(who, 'ses_3'), holdOf(80n, 1n)))).toBe('insufficient_credit');
    ledger.settleSession(headOf(who, 'ses_1'), endOf([]));
    expect(ledger.openSession(headOf(who, 'ses_3'), holdOf(80n, 1n))).toEqual({ heldMicroUsd: 80n, limitedBy: null });
  });

  test('counts today’s spending and holds of a key, from midnight UTC', () => {
    const { ledger, customer, clock } = ledgerRig();
    const who = customer({ limit: null, dailyMax: 500_000n });
    ledger.openSession(headOf(who, 'ses_1'), holdOf(300_000n));
    expect(ledger.openSession(headOf(who, 'ses_2'), holdOf(300_000n))).toEqual({
      heldMicroUsd: 200_000n,
      limitedBy: 'daily_spend',
    });
    ledger.settleSession(headOf(who, 'ses_1'), endOf([lineOf(30_000, CENT_A_SECOND)]));
    ledger.settleSession(headOf(who, 'ses_2'), endOf([]));
    expect(ledger.openSession(headOf(who, 'ses_3'), holdOf(300_000n)).heldMicroUsd).toBe(200_000n);
    clock.nowMs = Date.parse('2026-11-22T00:00:00.000Z');
    expect(ledger.renewHold(headOf(who, 'ses_3'), [], holdOf(600_000n)).heldMicroUsd).toBe(500_000n);
  });

  test.each([
    ['less than was said before', [lineOf(9_999, CENT_A_SECOND)]],
    ['another price', [lineOf(10_000, perMinute(600_001n))]],
    ['another minimum', [lineOf(10_000, perMinute(600_000n, 1n))]],
    ['another unit', [lineOf(10_000, perSession(600_000n))]],
    ['a line twice', [lineOf(10_000, CENT_A_SECOND), lineOf(10_000, CENT_A_SECOND)]],
    ['a part of a millisecond', [lineOf(10_000.5, CENT_A_SECOND)]],
    ['no number', [lineOf(Number.NaN, CENT_A_SECOND)]],
    ['a price below zero', [lineOf(10_000, perMinute(-1n))]],
  ])('refuses %s, and leaves everything as it was', (_, lines) => {
    const { ledger, customer } = ledgerRig();
    const who = customer({ credit: CREDIT });
    ledger.openSession(headOf(who, 'ses_1'), holdOf(300_000n));
    ledger.renewHold(headOf(who, 'ses_1'), [lineOf(10_000, CENT_A_SECOND)], holdOf(300_000n));
    const before = [ledger.findSession(who.organisationId, 'ses_1'), ledger.balanceOf(who.organisationId)];
    const other = lineOf(5_000, CENT_A_SECOND, { model: 'loopback/numbered' });
    expect(reasonOf(() => ledger.renewHold(headOf(who, 'ses_1'), [other, ...lines], holdOf(1n)))).toBe('invalid');
    expect([ledger.findSession(who.organisationId, 'ses_1'), ledger.balanceOf(who.organisationId)]).toEqual(before);
  });

  test('fails for an unknown session, and gives nothing for a settled one', () => {
    const { ledger, customer } = ledgerRig();
    const who = customer({ credit: CREDIT });
    expect(reasonOf(() => ledger.renewHold(headOf(who, 'ses_1'), [], holdOf(1n)))).toBe('not_found');
    ledger.openSession(headOf(who, 'ses_1'), holdOf(1n));
    const record = ledger.settleSession(headOf(who, 'ses_1'), endOf([lineOf(1_000, CENT_A_SECOND)]));
    const grant = ledger.renewHold(headOf(who, 'ses_1'), [lineOf(2_000, CENT_A_SECOND)], holdOf(1n));
    expect(grant).toEqual({ heldMicroUsd: 0n, limitedBy: null, settled: true });
    expect(ledger.findSession(who.organisationId, 'ses_1')).toEqual(record);
  });
});

describe('settling', () => {
  test('posts the rest, gives the hold back, and answers later calls with the first result', () => {
    const { ledger, customer } = ledgerRig();
    const who = customer({ credit: CREDIT });
    const head = headOf(who, 'ses_1');
    ledger.openSession(head, holdOf(600_000n));
    ledger.renewHold(headOf(who, 'ses_1'), [lineOf(30_000, CENT_A_SECOND)], holdOf(600_000n));
    const lines = [lineOf(45_000, CENT_A_SECOND), lineOf(7_000, CENT_A_SECOND, { model: 'local/words', own: true })];
    const record = ledger.settleSession(head, endOf(lines, { reason: 'credit', code: 'insufficient_credit' }));
    expect(record).toEqual({
      ...head,
      endedAt: '2026-11-21T12:05:00.000Z',
      reason: 'credit',
      code: 'insufficient_credit',
      audioMs: 52_000,
      lines: [
        { ...lines[1], costMicroUsd: 0n },
        { ...lines[0], costMicroUsd: 450_000n },
      ],
      costMicroUsd: 450_000n,
      heldMicroUsd: 0n,
    });
    expect(ledger.settleSession(head, endOf([lineOf(60_000, CENT_A_SECOND)], { reason: 'recovered' }))).toEqual(record);
    expect(ledger.openSession(head, holdOf(1n))).toEqual({ heldMicroUsd: 0n, limitedBy: null, settled: true });
    expect(ledger.balanceOf(who.organisationId)).toMatchObject({ balanceMicroUsd: 550_000n, heldMicroUsd: 0n });
    expect(ledger.auditLedger()).toMatchObject({ ok: true, openHolds: 0, oldestHoldMs: null, sumMicroUsd: 0n });
  });

  test('keeps the bill when an older statement arrives', () => {
    const { ledger, customer } = ledgerRig();
    const who = customer({ credit: CREDIT });
    ledger.openSession(headOf(who, 'ses_1'), holdOf(600_000n));
    ledger.renewHold(headOf(who, 'ses_1'), [lineOf(30_000, CENT_A_SECOND)], holdOf(600_000n));
    const end = endOf([lineOf(20_000, perMinute(1n)), lineOf(1_000, CENT_A_SECOND, { model: 'loopback/numbered' })]);
    expect(ledger.settleSession(headOf(who, 'ses_1'), end)).toMatchObject({
      costMicroUsd: 310_000n,
      lines: [
        { model: 'loopback/numbered', audioMs: 1_000, costMicroUsd: 10_000n },
        { model: 'loopback/script', audioMs: 30_000, price: CENT_A_SECOND, costMicroUsd: 300_000n },
      ],
    });
    expect(ledger.auditLedger().faults).toEqual([]);
  });

  test('creates a session that was never opened, with its full cost, without credit', () => {
    const { ledger, customer } = ledgerRig();
    const who = customer({ credit: 1n });
    const head = headOf({ ...who, keyId: 'key_of_a_backup' }, 'ses_1');
    const record = ledger.settleSession(head, endOf([lineOf(60_000, CENT_A_SECOND)], { reason: 'recovered' }));
    expect(record).toMatchObject({ ...head, costMicroUsd: 600_000n, reason: 'recovered' });
    expect(ledger.balanceOf(who.organisationId).balanceMicroUsd).toBe(-599_999n);
    // The opening comes late: there is nothing to hold any more.
    expect(ledger.openSession(headOf(who, 'ses_1'), holdOf(1n))).toEqual({
      heldMicroUsd: 0n,
      limitedBy: null,
      settled: true,
    });
    expect(ledger.auditLedger()).toMatchObject({ ok: true, sessions: 1, openHolds: 0 });
    const nobody = headOf({ ...who, organisationId: 'org_none' }, 'ses_2');
    expect(reasonOf(() => ledger.settleSession(nobody, endOf([])))).toBe('not_found');
  });

  test('posts a session price once, a minimum as the least, and zero for customer keys', () => {
    const { ledger, customer } = ledgerRig();
    const who = customer({ credit: CREDIT });
    ledger.openSession(headOf(who, 'ses_1'), holdOf(1n));
    const lines = (audioMs: number) => [
      lineOf(audioMs, perSession(50_000n), { model: 'a/session' }),
      lineOf(audioMs, perMinute(60_000n, 1_000n), { model: 'a/minimum' }),
      lineOf(audioMs, perMinute(60_000n, 1_000n), { model: 'a/minimum', own: true }),
    ];
    const costs = [0, 1, 1_000, 1_001, 2_000].map((audioMs) => {
      ledger.renewHold(headOf(who, 'ses_1'), lines(audioMs), { ...holdOf(1n), onTrust: true });
      return ledger.findSession(who.organisationId, 'ses_1')!.lines.map(({ costMicroUsd }) => costMicroUsd);
    });
    expect(costs).toEqual([
      [0n, 0n, 0n],
      [1_000n, 0n, 50_000n],
      [1_000n, 0n, 50_000n],
      [1_001n, 0n, 50_000n],
      [2_000n, 0n, 50_000n],
    ]);
    expect(
      ledger
        .exportLedger(0, 100)
        .filter(({ kind }) => kind === 'usage')
        .map(({ id }) => id),
    ).toEqual(['ses_1:a/session:0:1', 'ses_1:a/minimum:0:1', 'ses_1:a/minimum:0:2', 'ses_1:a/minimum:0:3']);
    expect(ledger.auditLedger().faults).toEqual([]);
  });
});

describe('leases', () => {
  test('end when the clock is set back by an hour, and a continuing session holds again', () => {
    const { ledger, customer, clock } = ledgerRig();
    const who = customer({ credit: 100_000n });
    ledger.openSession(headOf(who, 'ses_1'), holdOf(60_000n));
    ledger.openSession(headOf(who, 'ses_2'), holdOf(40_000n));
    clock.nowMs -= 3_600_000;
    expect(ledger.nextLeaseEndMs()).toBe(clock.nowMs);
    expect(ledger.auditLedger().faults).toHaveLength(2);
    expect(ledger.expireHolds()).toBe(2);
    expect(ledger.renewHold(headOf(who, 'ses_1'), [], holdOf(60_000n)).heldMicroUsd).toBe(60_000n);
    expect(ledger.nextLeaseEndMs()).toBeGreaterThan(clock.nowMs);
    expect(ledger.expireHolds()).toBe(0);
    expect(ledger.balanceOf(who.organisationId).heldMicroUsd).toBe(60_000n);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
  });

  test('survive a clock corrected by less than a minute', () => {
    const { ledger, customer, clock } = ledgerRig();
    const who = customer({ credit: 100_000n });
    ledger.openSession(headOf(who, 'ses_1'), holdOf(60_000n));
    clock.nowMs -= 59_000;
    expect([ledger.expireHolds(), ledger.openSession(headOf(who, 'ses_1'), holdOf(60_000n)).heldMicroUsd]).toEqual([
      0,
      60_000n,
    ]);
  });

  test('release a hold when over; its session can still be settled and renewed', () => {
    const { ledger, customer, clock } = ledgerRig();
    const who = customer({ credit: CREDIT });
    expect(ledger.nextLeaseEndMs()).toBeUndefined();
    ledger.openSession(headOf(who, 'ses_1'), holdOf(300_000n, 0n, 60_000));
    ledger.openSession(headOf(who, 'ses_2'), holdOf(300_000n, 0n, 20_000));
    ledger.openSession(headOf(who, 'ses_3'), holdOf(300_000n, 0n, 20_000));
    expect(ledger.nextLeaseEndMs()).toBe(clock.nowMs + 20_000);
    clock.nowMs += 19_999;
    expect(ledger.expireHolds()).toBe(0);
    clock.nowMs += 1;
    expect(ledger.expireHolds()).toBe(2);
    expect(ledger.expireHolds()).toBe(0);
    expect(ledger.nextLeaseEndMs()).toBe(clock.nowMs + 40_000);
    expect(ledger.balanceOf(who.organisationId).heldMicroUsd).toBe(300_000n);
    expect(ledger.findSession(who.organisationId, 'ses_2')).toMatchObject({ endedAt: null, heldMicroUsd: 0n });
    ledger.settleSession(headOf(who, 'ses_2'), endOf([lineOf(10_000, CENT_A_SECOND)]));
    expect(ledger.renewHold(headOf(who, 'ses_3'), [lineOf(10_000, CENT_A_SECOND)], holdOf(100n)).heldMicroUsd).toBe(
      100n,
    );
    expect(ledger.balanceOf(who.organisationId)).toMatchObject({ balanceMicroUsd: 800_000n, heldMicroUsd: 300_100n });
    expect(ledger.auditLedger().faults).toEqual([]);
  });
});
