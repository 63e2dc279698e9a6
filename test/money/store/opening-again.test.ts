// Opening a session that is known: a call repeated because its answer was lost changes nothing, and nobody is told of a hold
// that is not there.
import { describe, expect, test } from 'vitest';
import { StoreError, type StoreErrorReason } from '../../../src/store/store-error.ts';
import {
  creditOf,
  endOf,
  headOf,
  holdOf,
  type LedgerRig,
  ledgerRig,
  lineOf,
  OPERATOR,
} from '../../fakes/store/ledger.ts';

/** Opens `ses_1` of one customer again and again. */
function begin(options: Parameters<LedgerRig['customer']>[0]) {
  const rig = ledgerRig();
  const who = rig.customer(options);
  const holdsMade = rig.database.prepare<[], number>('SELECT count(*) FROM holds').pluck();
  return {
    ...rig,
    who,
    open: (wanted: bigint, least = 0n) => rig.ledger.openSession(headOf(who, 'ses_1'), holdOf(wanted, least)),
    balance: () => rig.ledger.balanceOf(who.organisationId),
    holdsMade: () => holdsMade.get(),
  };
}

function reasonOf(call: () => unknown): StoreErrorReason | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    return (error as StoreError).reason;
  }
}

describe('opening a session again', () => {
  test.each([60n, 40n, 0n])('returns the hold for %s of 60 held, and makes no new one', (wanted) => {
    const { open, balance, holdsMade, clock, ledger } = begin({ credit: 100n });
    const first = open(60n);
    clock.nowMs += 59_999;
    expect(open(wanted)).toEqual(first);
    expect(balance()).toMatchObject({ heldMicroUsd: 60n, availableMicroUsd: 40n });
    expect([holdsMade(), ledger.nextLeaseEndMs()]).toEqual([1, clock.nowMs + 1]);
  });

  test('replaces the hold for a larger amount, as far as credit allows', () => {
    const { open, balance, ledger, who } = begin({ credit: 50n });
    expect(open(60n)).toEqual({ heldMicroUsd: 50n, limitedBy: 'credit' });
    // The same once more: no more is lent than there is.
    expect(open(60n)).toEqual({ heldMicroUsd: 50n, limitedBy: 'credit' });
    expect(balance()).toMatchObject({ heldMicroUsd: 50n, availableMicroUsd: 0n });
    ledger.addCredit(creditOf(who.organisationId, 30n), OPERATOR);
    expect(open(60n)).toEqual({ heldMicroUsd: 60n, limitedBy: null });
    expect(open(90n, 80n)).toEqual({ heldMicroUsd: 80n, limitedBy: 'credit' });
    expect(balance()).toMatchObject({ heldMicroUsd: 80n, availableMicroUsd: 0n });
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [], openHolds: 1 });
  });

  test.each([
    ['expired', true],
    ['is over its lease and waits to be given back', false],
  ])('makes a new hold when the old one %s', (_, expired) => {
    const { open, balance, ledger, clock, holdsMade } = begin({ credit: 100n });
    open(60n);
    clock.nowMs += 60_000;
    if (expired) ledger.expireHolds();
    expect(open(60n)).toEqual({ heldMicroUsd: 60n, limitedBy: null });
    expect(balance()).toMatchObject({ heldMicroUsd: 60n, availableMicroUsd: 40n });
    expect([holdsMade(), ledger.nextLeaseEndMs()]).toEqual([2, clock.nowMs + 60_000]);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [], openHolds: 1 });
  });

  test('leaves what another session holds by now', () => {
    const { open, balance, ledger, clock, who } = begin({ credit: 100n });
    open(60n);
    clock.nowMs += 60_000;
    ledger.expireHolds();
    ledger.openSession(headOf(who, 'ses_2'), holdOf(70n));
    expect(reasonOf(() => open(60n, 31n))).toBe('insufficient_credit');
    expect(open(60n, 30n)).toEqual({ heldMicroUsd: 30n, limitedBy: 'credit' });
    expect(balance()).toMatchObject({ heldMicroUsd: 100n, availableMicroUsd: 0n });
  });

  test.each([
    ['insufficient_credit', { credit: 100n }],
    ['daily_spend', { limit: null, dailyMax: 100n }],
  ] as const)('fails for too much with %s, and leaves the hold to its lease', (reason, options) => {
    const { open, ledger, clock } = begin(options);
    open(60n);
    expect(reasonOf(() => open(120n, 101n))).toBe(reason);
    expect(open(60n)).toEqual({ heldMicroUsd: 60n, limitedBy: null });
    expect(ledger.auditLedger()).toMatchObject({ ok: true, openHolds: 1 });
    clock.nowMs += 60_000;
    expect(ledger.expireHolds()).toBe(1);
  });

  test('gets nothing once settled, and says so, by a renewal too', () => {
    const { open, ledger, who, holdsMade } = begin({ credit: 100n });
    open(60n);
    ledger.settleSession(headOf(who, 'ses_1'), endOf([lineOf(1)]));
    const nothing = { heldMicroUsd: 0n, limitedBy: null, settled: true };
    expect(open(60n, 60n)).toEqual(nothing);
    expect(ledger.renewHold(headOf(who, 'ses_1'), [], holdOf(60n))).toEqual(nothing);
    expect(holdsMade()).toBe(1);
  });
});
