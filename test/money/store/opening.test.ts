// What a session gets to begin with: the hold it wants, less, or a refusal that leaves nothing behind.
import { describe, expect, test } from 'vitest';
import { StoreError, type StoreErrorReason } from '../../../src/store/store-error.ts';
import { endOf, headOf, holdOf, ledgerRig } from '../../fakes/store/ledger.ts';

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

describe('opening', () => {
  test.each<
    [
      string,
      { credit: bigint; limit: bigint | null; dailyMax?: bigint },
      [bigint, bigint],
      [bigint, string | null] | string,
    ]
  >([
    ['all that is wanted', { credit: 100n, limit: 0n }, [60n, 10n], [60n, null]],
    ['all the credit when there is no more', { credit: 50n, limit: 0n }, [60n, 10n], [50n, 'credit']],
    ['exactly the least', { credit: 10n, limit: 0n }, [60n, 10n], [10n, 'credit']],
    ['nothing below the least', { credit: 9n, limit: 0n }, [60n, 10n], 'insufficient_credit'],
    ['nothing without credit', { credit: 0n, limit: 0n }, [60n, 1n], 'insufficient_credit'],
    ['what is there, when any will do', { credit: 0n, limit: 0n }, [60n, 0n], [0n, 'credit']],
    ['down to the credit limit', { credit: 10n, limit: 30n }, [60n, 10n], [40n, 'credit']],
    ['everything without a limit', { credit: 0n, limit: null }, [60n, 60n], [60n, null]],
    ['nothing when nothing is wanted', { credit: 0n, limit: 0n }, [0n, 0n], [0n, null]],
    [
      'no more than the key may spend today',
      { credit: 100n, limit: 0n, dailyMax: 20n },
      [60n, 10n],
      [20n, 'daily_spend'],
    ],
    [
      'nothing when the key may spend less than the least',
      { credit: 100n, limit: 0n, dailyMax: 9n },
      [60n, 10n],
      'daily_spend',
    ],
    [
      'no more than the key may spend, without a credit limit too',
      { credit: 0n, limit: null, dailyMax: 5n },
      [60n, 0n],
      [5n, 'daily_spend'],
    ],
    ['the lesser of both, which is the credit', { credit: 5n, limit: 0n, dailyMax: 20n }, [60n, 1n], [5n, 'credit']],
    [
      'what both leave, which the credit is named for',
      { credit: 20n, limit: 0n, dailyMax: 20n },
      [60n, 1n],
      [20n, 'credit'],
    ],
    [
      'all that is wanted, when the key may spend just that',
      { credit: 99n, limit: 0n, dailyMax: 60n },
      [60n, 1n],
      [60n, null],
    ],
    ['nothing to a key that may spend nothing', { credit: 5n, limit: 0n, dailyMax: 0n }, [60n, 1n], 'daily_spend'],
  ])('holds %s', (_, options, [wanted, least], expected) => {
    const { ledger, customer } = ledgerRig();
    const who = customer(options);
    const before = ledger.balanceOf(who.organisationId);
    if (typeof expected === 'string') {
      expect(reasonOf(() => ledger.openSession(headOf(who, 'ses_1'), holdOf(wanted, least)))).toBe(expected);
      expect(ledger.findSession(who.organisationId, 'ses_1')).toBeUndefined();
      expect(ledger.balanceOf(who.organisationId)).toEqual(before);
    } else {
      const [heldMicroUsd, limitedBy] = expected;
      expect(ledger.openSession(headOf(who, 'ses_1'), holdOf(wanted, least))).toEqual({
        heldMicroUsd,
        limitedBy,
        ...(options.limit === null && limitedBy === null ? { unlimited: true } : {}),
      });
      expect(ledger.balanceOf(who.organisationId)).toMatchObject({ balanceMicroUsd: options.credit, heldMicroUsd });
      expect(ledger.findSession(who.organisationId, 'ses_1')).toMatchObject({ endedAt: null, heldMicroUsd });
    }
    expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
  });

  test('needs an existing organisation and key, and an unused id', () => {
    const { ledger, customer } = ledgerRig();
    const [one, other] = [customer({ credit: 100n }), customer({ credit: 100n })];
    const open = (head: ReturnType<typeof headOf>) => reasonOf(() => ledger.openSession(head, holdOf(1n)));
    expect(open(headOf({ ...one, organisationId: 'org_none' }, 'ses_1'))).toBe('not_found');
    expect(open(headOf({ ...one, keyId: 'key_none' }, 'ses_1'))).toBe('not_found');
    expect(open(headOf({ ...one, keyId: other.keyId }, 'ses_1'))).toBe('not_found');
    expect(open(headOf(one, 'ses_1'))).toBeUndefined();
    expect(open(headOf(other, 'ses_1'))).toBe('conflict');
    expect(reasonOf(() => ledger.settleSession(headOf(other, 'ses_1'), endOf([])))).toBe('conflict');
    expect(ledger.findSession(other.organisationId, 'ses_1')).toBeUndefined();
  });

  test.each([
    ['a negative hold', holdOf(-1n)],
    ['a hold of more than the ledger counts', holdOf(10n ** 16n)],
    ['a least below zero', holdOf(1n, -1n)],
    ['a lease of nothing', holdOf(1n, 0n, 0)],
    ['a lease of a part of a millisecond', holdOf(1n, 0n, 1.5)],
  ])('refuses %s', (_, request) => {
    const { ledger, customer } = ledgerRig();
    expect(reasonOf(() => ledger.openSession(headOf(customer({ limit: null }), 'ses_1'), request))).toBe('invalid');
  });
});
