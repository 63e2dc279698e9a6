// Credits, bills, usage and lists: what an organisation is told of its money, exactly, and never of another's.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Credit } from '../../../src/money/store/calls.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { creditOf, endOf, headOf, holdOf, ledgerRig, lineOf, OPERATOR, perMinute } from '../../fakes/store/ledger.ts';

function refusal(call: () => unknown): StoreError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    return error as StoreError;
  }
  throw new Error('It was not refused.');
}

describe('credits', () => {
  test('gives credit once per unique key, with a transfer and an audit entry', () => {
    const { ledger, customer } = ledgerRig();
    const [one, other] = [customer().organisationId, customer().organisationId];
    const welcome = { kind: 'welcome', uniqueKey: 'welcome ada@example.com' } as const;
    expect(ledger.addCredit(creditOf(one, 2_000_000n, welcome), OPERATOR)).toBe(true);
    expect(ledger.addCredit(creditOf(one, 2_000_000n, welcome), OPERATOR)).toBe(false);
    expect(ledger.addCredit(creditOf(other, 1n, { ...welcome, kind: 'top_up' }), OPERATOR)).toBe(false);
    expect(ledger.addCredit(creditOf(one, 500_000n, { kind: 'top_up', note: 'Card' }), OPERATOR)).toBe(true);
    expect(ledger.addCredit(creditOf(one, -300_000n, { note: 'Mistake' }), OPERATOR)).toBe(true);
    expect(ledger.balanceOf(one)).toEqual({
      balanceMicroUsd: 2_200_000n,
      heldMicroUsd: 0n,
      creditLimitMicroUsd: 0n,
      availableMicroUsd: 2_200_000n,
    });
    expect(ledger.balanceOf(other).balanceMicroUsd).toBe(0n);
    const rows = ledger.exportLedger(0, 10).map(({ kind, debit, credit, microUsd }) => [kind, debit, credit, microUsd]);
    expect(rows).toEqual([
      ['welcome', 'house:welcome', one, 2_000_000n],
      ['top_up', 'house:payments', one, 500_000n],
      ['adjustment', one, 'house:adjustments', 300_000n],
    ]);
    const entries = ledger.listAudit(one, 10).filter(({ action }) => action.startsWith('credit.'));
    expect(entries.map(({ action, detail, by }) => [action, detail.usd, by.type])).toEqual([
      ['credit.adjusted', '-0.30', 'operator'],
      ['credit.added', '0.50', 'operator'],
      ['credit.added', '2.00', 'operator'],
    ]);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, transfers: 3, sumMicroUsd: 0n });
  });

  test.each<[string, Partial<Credit>]>([
    ['nothing', { microUsd: 0n }],
    ['less than nothing as a top-up', { microUsd: -1n, kind: 'top_up' }],
    ['less than nothing as a welcome', { microUsd: -1n, kind: 'welcome' }],
    ['more than the ledger counts', { microUsd: 10n ** 16n }],
    ['something without a unique key', { uniqueKey: '' }],
    ['something of another kind', { kind: 'gift' as Credit['kind'] }],
    ['something with an endless note', { note: 'x'.repeat(501) }],
  ])('refuses to give %s', (_, rest) => {
    const { ledger, customer } = ledgerRig();
    const { organisationId } = customer();
    expect(refusal(() => ledger.addCredit({ ...creditOf(organisationId, 1n), ...rest }, OPERATOR)).reason).toBe(
      'invalid',
    );
    expect(ledger.exportLedger(0, 10)).toEqual([]);
  });

  test('fails for an unknown organisation: no credit and no balance', () => {
    const { ledger } = ledgerRig();
    expect(refusal(() => ledger.addCredit(creditOf('org_none', 1n), OPERATOR)).reason).toBe('not_found');
    expect(refusal(() => ledger.balanceOf('org_none')).reason).toBe('not_found');
    expect(refusal(() => ledger.billOf('org_none', '2026-11')).reason).toBe('not_found');
  });

  test('transfers are exported page after page', () => {
    const { ledger, customer } = ledgerRig();
    const who = customer({ credit: 7n });
    ledger.settleSession(headOf(who, 'ses_1'), endOf([lineOf(1_000)]));
    const [first] = ledger.exportLedger(0, 1);
    expect(first).toMatchObject({ number: 1, kind: 'top_up', microUsd: 7n, sessionId: null });
    expect(ledger.exportLedger(1, 100)).toEqual([
      {
        number: 2,
        id: 'ses_1:loopback/script:0:1',
        at: '2026-11-21T12:00:00.000Z',
        kind: 'usage',
        debit: who.organisationId,
        credit: 'house:revenue',
        microUsd: 1_000n,
        sessionId: 'ses_1',
        note: 'loopback/script',
      },
    ]);
    expect(ledger.exportLedger(2, 100)).toEqual([]);
  });
});

describe('sessions', () => {
  test('come newest first, page by page, of one organisation only', () => {
    const { ledger, customer } = ledgerRig();
    const [one, other] = [customer({ limit: null }), customer({ limit: null })];
    // Told in another order than they were opened in; two at the same moment.
    const minutes = [3, 1, 4, 1, 5, 9, 2, 6];
    minutes.forEach((minute, index) => {
      const head = headOf(index === 4 ? other : one, `ses_${index}`, { openedAt: `2026-11-21T12:0${minute}:00Z` });
      ledger.openSession(head, holdOf(1n));
    });
    const all = ledger.listSessions(one.organisationId, 100).map(({ id }) => id);
    expect(all).toEqual(['ses_5', 'ses_7', 'ses_2', 'ses_0', 'ses_6', 'ses_3', 'ses_1']);
    const paged: string[] = [];
    for (;;) {
      const page = ledger.listSessions(one.organisationId, 2, paged.at(-1)).map(({ id }) => id);
      if (page.length === 0) break;
      paged.push(...page);
    }
    expect(paged).toEqual(all);
    expect(refusal(() => ledger.listSessions(one.organisationId, 2, 'ses_4')).reason).toBe('invalid');
    expect(ledger.findSession(one.organisationId, 'ses_4')).toBeUndefined();
    expect(ledger.findSession(other.organisationId, 'ses_4')).toMatchObject({
      id: 'ses_4',
      openedAt: '2026-11-21T12:05:00.000Z',
    });
  });
});

test('usage is summed by model, provider, day or key; own keys apart; by the time of opening; never another’s', () => {
  const { ledger, customer } = ledgerRig();
  const [one, other] = [customer({ limit: null }), customer({ limit: null })];
  const key2 = ledger.createKey(one.organisationId, {}, OPERATOR).key.id;
  const settle = (id: string, openedAt: string, lines: ReturnType<typeof lineOf>[], who: typeof one = one) =>
    ledger.settleSession(headOf(who, id, { openedAt }), endOf(lines));
  const price = perMinute(60_000n);
  settle('ses_1', '2026-11-01T00:00:00.000Z', [
    lineOf(1_000, price, { model: 'a/x' }),
    lineOf(500, price, { model: 'a/y' }),
  ]);
  settle('ses_2', '2026-11-01T23:59:59.999Z', [lineOf(2_000, price, { model: 'a/x', own: true })]);
  settle('ses_3', '2026-11-02T00:00:00.000Z', [lineOf(4_000, price, { model: 'b/x' })], { ...one, keyId: key2 });
  settle('ses_4', '2026-11-03T00:00:00.000Z', [lineOf(8_000, price, { model: 'b/x' })]);
  settle('ses_5', '2026-11-01T12:00:00.000Z', [lineOf(16_000, price, { model: 'b/x' })], other);
  const rows = (groupBy: 'model' | 'provider' | 'day' | 'key', keyId?: string) =>
    ledger
      .usageOf({
        organisationId: one.organisationId,
        from: '2026-11-01T00:00:00Z',
        to: '2026-11-03T00:00:00Z',
        groupBy,
        ...(keyId === undefined ? {} : { keyId }),
      })
      .map(({ group, own, sessions, audioMs, costMicroUsd }) => [group, own, sessions, audioMs, costMicroUsd]);
  expect(rows('model')).toEqual([
    ['a/x', false, 1, 1_000, 1_000n],
    ['a/x', true, 1, 2_000, 0n],
    ['a/y', false, 1, 500, 500n],
    ['b/x', false, 1, 4_000, 4_000n],
  ]);
  expect(rows('provider')).toEqual([
    ['a', false, 1, 1_500, 1_500n],
    ['a', true, 1, 2_000, 0n],
    ['b', false, 1, 4_000, 4_000n],
  ]);
  expect(rows('day')).toEqual([
    ['2026-11-01', false, 1, 1_500, 1_500n],
    ['2026-11-01', true, 1, 2_000, 0n],
    ['2026-11-02', false, 1, 4_000, 4_000n],
  ]);
  expect(rows('key', key2)).toEqual([[key2, false, 1, 4_000, 4_000n]]);
  expect(rows('key')).toHaveLength(3);
  const query = { organisationId: one.organisationId, from: 'yesterday', to: '2026-11-03', groupBy: 'day' } as const;
  expect(refusal(() => ledger.usageOf(query)).reason).toBe('invalid');
});

describe('bills', () => {
  test('puts a session on the bill of the month in which it was settled, whole', () => {
    const { ledger, customer, clock } = ledgerRig();
    const who = customer();
    clock.nowMs = Date.parse('2026-10-31T23:59:00.000Z');
    ledger.addCredit(creditOf(who.organisationId, 100_000n, { kind: 'welcome', note: 'Welcome' }), OPERATOR);
    ledger.openSession(headOf(who, 'ses_1'), holdOf(1n));
    ledger.renewHold(headOf(who, 'ses_1'), [lineOf(10_000)], holdOf(1n));
    clock.nowMs = Date.parse('2026-11-01T00:00:00.000Z');
    ledger.settleSession(headOf(who, 'ses_1'), endOf([lineOf(15_000), lineOf(1_000, perMinute(1n), { own: true })]));
    ledger.settleSession(headOf(who, 'req_1', { mode: 'batch' }), endOf([lineOf(3_000)]));
    ledger.addCredit(creditOf(who.organisationId, -2_000n, { note: 'Mistake' }), OPERATOR);
    expect(ledger.billOf(who.organisationId, '2026-10')).toEqual({
      organisationId: who.organisationId,
      month: '2026-10',
      openingMicroUsd: 0n,
      credits: [{ at: '2026-10-31T23:59:00.000Z', kind: 'welcome', microUsd: 100_000n, note: 'Welcome' }],
      lines: [],
      totalMicroUsd: 0n,
      closingMicroUsd: 100_000n,
    });
    const line = { model: 'loopback/script', sessions: 1 };
    expect(ledger.billOf(who.organisationId, '2026-11')).toMatchObject({
      openingMicroUsd: 100_000n,
      credits: [{ kind: 'adjustment', microUsd: -2_000n, note: 'Mistake' }],
      lines: [
        { ...line, mode: 'batch', own: false, audioMs: 3_000, costMicroUsd: 3_000n },
        { ...line, mode: 'live', own: false, audioMs: 15_000, costMicroUsd: 15_000n },
        { ...line, mode: 'live', own: true, audioMs: 1_000, costMicroUsd: 0n },
      ],
      totalMicroUsd: 18_000n,
      closingMicroUsd: 80_000n,
    });
    expect(ledger.billOf(who.organisationId, '2026-12')).toMatchObject({ openingMicroUsd: 80_000n, totalMicroUsd: 0n });
    expect(ledger.balanceOf(who.organisationId).balanceMicroUsd).toBe(80_000n);
  });

  test.each(['2026-13', '2026-00', '2026-1', '26-11', '2026-11-01', ''])('refuses "%s" as a month', (month) => {
    const { ledger, customer } = ledgerRig();
    expect(refusal(() => ledger.billOf(customer().organisationId, month)).message).toContain('2026-11');
  });

  test('opening, credits and usage add up, each month begins where the last one closed, and no bill changes when its month is over', () => {
    const event = fc.tuple(fc.constantFrom('open', 'renew', 'settle', 'credit', 'wait'), fc.nat(4), fc.nat(100_000));
    const property = fc.property(fc.array(event, { minLength: 20, maxLength: 60 }), (events) => {
      const { ledger, customer, clock, database } = ledgerRig();
      const who = customer({ limit: null });
      const bills = new Map<string, unknown>();
      clock.nowMs = Date.parse('2026-11-25T00:00:00.000Z');
      const monthNow = () => new Date(clock.nowMs).toISOString().slice(0, 7);
      for (const [kind, id, size] of events) {
        const head = headOf(who, `ses_${id}`);
        if (kind === 'open') ledger.openSession(head, holdOf(100n));
        if (kind === 'renew' && ledger.findSession(who.organisationId, head.id)?.lines.length === 0)
          ledger.renewHold(head, [lineOf(size)], holdOf(100n));
        if (kind === 'settle') ledger.settleSession(head, endOf([lineOf(size)]));
        if (kind === 'credit') ledger.addCredit(creditOf(who.organisationId, BigInt(size - 50_000) || 1n), OPERATOR);
        if (kind !== 'wait') continue;
        const before = monthNow();
        clock.nowMs += size * 10_000;
        if (monthNow() !== before) bills.set(before, ledger.billOf(who.organisationId, before));
      }
      for (const [month, bill] of bills) expect(ledger.billOf(who.organisationId, month)).toEqual(bill);
      let closing = 0n;
      for (
        let at = new Date('2026-11-01T00:00:00Z');
        at.getTime() <= clock.nowMs;
        at.setUTCMonth(at.getUTCMonth() + 1)
      ) {
        const bill = ledger.billOf(who.organisationId, at.toISOString().slice(0, 7));
        expect(bill.openingMicroUsd).toBe(closing);
        const given = bill.credits.reduce((sum, { microUsd }) => sum + microUsd, 0n);
        const used = bill.lines.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0n);
        expect([bill.totalMicroUsd, bill.closingMicroUsd]).toEqual([used, closing + given - used]);
        closing = bill.closingMicroUsd;
      }
      for (let id = 0; id <= 4; id++) ledger.settleSession(headOf(who, `ses_${id}`), endOf([]));
      const last = ledger.billOf(who.organisationId, monthNow());
      expect(last.closingMicroUsd, 'with nothing open').toBe(ledger.balanceOf(who.organisationId).balanceMicroUsd);
      database.close();
    });
    fc.assert(property, { numRuns: 60, seed: 1 });
  }, 60_000);
});
