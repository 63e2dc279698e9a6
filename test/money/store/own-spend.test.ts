// Own provider keys under ceilings on spend: what they use counts at the price of the model, and nothing of it is charged.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpendCeiling } from '../../../src/api/spend-ceilings.ts';
import type { HoldRequest, UsageLine } from '../../../src/money/store/calls.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { drawn } from '../../fakes/drawn.ts';
import { editedCopy, endOf, headOf, holdOf, ledgerRig, lineOf, OPERATOR, perMinute } from '../../fakes/store/ledger.ts';

const A = 'alpha/one';
const B = 'beta/two';

const ceiling = (microUsd: number, provider?: string): SpendCeiling => ({
  usd: `0.${String(microUsd).padStart(6, '0')}`,
  period: 'day',
  ...(provider === undefined ? {} : { provider }),
});

/** A micro-dollar a millisecond. */
const own = (microUsd: number, model = A): UsageLine =>
  lineOf(microUsd, perMinute(60_000n), { model, own: true, counted: true });
const paid = (microUsd: number, model = A): UsageLine => lineOf(microUsd, perMinute(60_000n), { model });

function rigWith(ceilings: readonly SpendCeiling[], credit = 1_000n) {
  const rig = ledgerRig();
  const who = rig.customer({ credit });
  const { ledger, database } = rig;
  ledger.changeKey(who.organisationId, who.keyId, { spendCeilings: [...ceilings] }, OPERATOR);
  const hold = (id: string, wanted: bigint, lines: UsageLine[] = [], more: Partial<HoldRequest> = {}, model = A) =>
    ledger.holdOwn(headOf(who, id, { model }), lines, { ...holdOf(wanted), ...more });
  const settle = (id: string, lines: UsageLine[]) => ledger.settleSession(headOf(who, id), endOf(lines));
  const counters = () =>
    database
      .prepare<[], [number, number]>('SELECT spent_micro_usd, held_micro_usd FROM spend_ceilings ORDER BY provider')
      .raw()
      .all();
  return { ...rig, who, hold, settle, counters };
}

function reasonOf(work: () => unknown): string {
  try {
    work();
    return 'done';
  } catch (error) {
    if (error instanceof StoreError) return error.reason;
    throw error;
  }
}

const expectAgreed = ({ ledger }: Pick<ReturnType<typeof ledgerRig>, 'ledger'>) =>
  expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });

describe('an own key under a ceiling', () => {
  it('holds what is left, then is refused, and is charged nothing', () => {
    const rig = rigWith([ceiling(100)], 0n);
    expect(rig.hold('ses_1', 60n)).toMatchObject({ heldMicroUsd: 60n, limitedBy: null });
    expect(rig.hold('ses_2', 60n)).toMatchObject({ heldMicroUsd: 40n, limitedBy: 'ceiling' });
    expect(reasonOf(() => rig.hold('ses_3', 60n, [], { leastMicroUsd: 1n }))).toBe('spend_ceiling');
    expect(rig.ledger.findSession(rig.who.organisationId, 'ses_3')).toBeUndefined();
    expect(rig.settle('ses_1', [own(60)])).toMatchObject({ costMicroUsd: 0n, heldMicroUsd: 0n });
    rig.settle('ses_2', [own(30)]);
    expect(rig.counters()).toEqual([[90, 0]]);
    expect(rig.ledger.balanceOf(rig.who.organisationId)).toMatchObject({ balanceMicroUsd: 0n, heldMicroUsd: 0n });
    expect(rig.ledger.exportLedger(0, 100)).toEqual([]);
    expectAgreed(rig);
  });

  it('counts each millisecond once, however often it is reported', () => {
    const rig = rigWith([ceiling(1_000)]);
    rig.hold('ses_1', 100n);
    rig.hold('ses_1', 100n, [own(40)]);
    rig.hold('ses_1', 100n, [own(40)]);
    expect(rig.counters()).toEqual([[40, 100]]);
    expect(rig.hold('ses_1', 2_000n, [own(40)])).toMatchObject({ heldMicroUsd: 960n, limitedBy: 'ceiling' });
    rig.settle('ses_1', [own(55)]);
    rig.settle('ses_1', [own(90)]);
    expect(rig.counters()).toEqual([[55, 0]]);
    expect(rig.ledger.findSession(rig.who.organisationId, 'ses_1')?.lines).toMatchObject([
      { own: true, costMicroUsd: 0n, countedMicroUsd: 55n },
    ]);
    expectAgreed(rig);
  });

  it('shares the ceiling with what is paid for', () => {
    const rig = rigWith([ceiling(100)]);
    rig.hold('ses_1', 70n);
    expect(rig.ledger.openSession(headOf(rig.who, 'ses_2', { model: A }), holdOf(60n))).toMatchObject({
      heldMicroUsd: 30n,
      limitedBy: 'ceiling',
    });
    rig.settle('ses_1', [own(70)]);
    rig.settle('ses_2', [paid(30)]);
    expect(rig.counters()).toEqual([[100, 0]]);
    expect(reasonOf(() => rig.hold('ses_3', 1n, [], { leastMicroUsd: 1n }))).toBe('spend_ceiling');
    expectAgreed(rig);
  });

  it('counts for its own provider alone', () => {
    const rig = rigWith([ceiling(100, 'alpha'), ceiling(100, 'beta')]);
    rig.hold('ses_1', 80n);
    rig.hold('ses_2', 30n, [], {}, B);
    expect(rig.counters()).toEqual([
      [0, 80],
      [0, 30],
    ]);
    rig.settle('ses_1', [own(80)]);
    rig.settle('ses_2', [own(30, B)]);
    expect(rig.counters()).toEqual([
      [80, 0],
      [30, 0],
    ]);
    expectAgreed(rig);
  });

  it('ends the hold of credit of a session that continues on it, and the other way round', () => {
    const rig = rigWith([ceiling(1_000)]);
    const head = headOf(rig.who, 'ses_1', { model: A });
    rig.ledger.openSession(head, holdOf(100n));
    rig.hold('ses_1', 50n, [paid(20)]);
    expect(rig.ledger.balanceOf(rig.who.organisationId)).toMatchObject({ balanceMicroUsd: 980n, heldMicroUsd: 0n });
    expect(rig.counters()).toEqual([[20, 50]]);
    rig.ledger.renewHold(head, [paid(20), own(10)], holdOf(70n));
    expect(rig.ledger.balanceOf(rig.who.organisationId)).toMatchObject({ balanceMicroUsd: 980n, heldMicroUsd: 70n });
    expect(rig.counters()).toEqual([[30, 70]]);
    rig.settle('ses_1', [paid(50), own(10)]);
    expect(rig.counters()).toEqual([[60, 0]]);
    expectAgreed(rig);
  });

  it('keeps a hold of credit where no usage is reported, as for files', () => {
    const rig = rigWith([ceiling(1_000)]);
    rig.ledger.openSession(headOf(rig.who, 'req_1', { mode: 'batch', model: A }), holdOf(100n));
    rig.hold('req_1', 50n);
    rig.ledger.renewHold(headOf(rig.who, 'req_1'), [], holdOf(100n));
    expect(rig.counters()).toEqual([[0, 150]]);
    rig.hold('req_1', 0n);
    expect(rig.counters()).toEqual([[0, 100]]);
    rig.settle('req_1', []);
    expectAgreed(rig);
  });

  it('gives a hold back with its lease, its node or its process', () => {
    const rig = rigWith([ceiling(100)]);
    const { ledger, clock } = rig;
    rig.hold('ses_abc123a', 100n);
    expect(ledger.nextLeaseEndMs()).toBe(clock.nowMs + 60_000);
    expect(ledger.closeLost('abc123', new Date(clock.nowMs).toISOString())).toBe(0);
    clock.nowMs += 61_000;
    expect(ledger.expireHolds()).toBe(1);
    rig.hold('ses_abc123b', 100n);
    expect(ledger.closeLost('abc123', new Date(clock.nowMs).toISOString(), true)).toBe(2);
    rig.hold('ses_c', 100n);
    expect(ledger.endHolds(clock.nowMs)).toBe(1);
    expect(rig.counters()).toEqual([[0, 0]]);
    rig.settle('ses_c', []);
    expectAgreed(rig);
  });

  it('counts what a lost node reports later, once', () => {
    const rig = rigWith([ceiling(1_000)]);
    rig.hold('ses_abc123a', 100n);
    rig.hold('ses_abc123a', 100n, [own(30)]);
    rig.ledger.closeLost('abc123', new Date(rig.clock.nowMs).toISOString(), true);
    rig.settle('ses_abc123a', [own(80)]);
    rig.settle('ses_abc123a', [own(90)]);
    expect(rig.counters()).toEqual([[80, 0]]);
    expect(rig.ledger.auditLedger().faults).toEqual([]);
  });

  it('counts what was used and held before another ceiling was set', () => {
    const rig = rigWith([ceiling(1_000)]);
    rig.hold('ses_1', 40n);
    rig.hold('ses_2', 20n);
    rig.settle('ses_1', [own(40)]);
    rig.ledger.setSpendCeilings(rig.who.organisationId, [ceiling(70), ceiling(100, 'beta')], OPERATOR);
    expect(rig.hold('ses_3', 60n)).toMatchObject({ heldMicroUsd: 10n, limitedBy: 'ceiling' });
    expectAgreed(rig);
  });

  it('counts nothing of a line that does not say so, and nothing without a price', () => {
    const rig = rigWith([ceiling(100)]);
    rig.settle('ses_1', [{ ...own(60), counted: undefined } as never as UsageLine]);
    rig.settle('ses_2', [lineOf(60, perMinute(0n), { own: true, counted: true })]);
    expect(rig.counters()).toEqual([[0, 0]]);
    expectAgreed(rig);
  });

  it('shows what it counted in the usage, and none of it in the bill', () => {
    const rig = rigWith([ceiling(1_000)]);
    const { organisationId } = rig.who;
    rig.settle('ses_1', [own(60), paid(5)]);
    const [from, to] = ['2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'];
    expect(rig.ledger.usageOf({ organisationId, from, to, groupBy: 'model' })).toMatchObject([
      { own: false, costMicroUsd: 5n, countedMicroUsd: 0n },
      { own: true, costMicroUsd: 0n, countedMicroUsd: 60n },
    ]);
    expect(rig.ledger.billOf(organisationId, '2026-11')).toMatchObject({ totalMicroUsd: 5n });
  });

  it.each([
    ['that is paid for', { ...paid(5), counted: true }],
    ['with another word', { ...own(5), counted: 'yes' }],
    ['with a negative price', { ...own(5), price: { unit: 'minute', microUsd: -1n, minimumMicroUsd: 0n } }],
    ['with no number', { ...own(5), audioMs: Number.NaN }],
    ['with too large a number', { ...own(5), audioMs: 1e300 }],
  ])('refuses a line %s', (_, line) => {
    const rig = rigWith([ceiling(100)]);
    expect(reasonOf(() => rig.hold('ses_1', 10n, [line as UsageLine]))).toBe('invalid');
    for (const wanted of [-1n, 10n ** 16n]) expect(reasonOf(() => rig.hold('ses_1', wanted))).toBe('invalid');
    expect(rig.counters()).toEqual([[0, 0]]);
  });

  it('is found by the audit where what it counted was changed', () => {
    const rig = rigWith([ceiling(100)]);
    rig.hold('ses_1', 60n);
    rig.hold('ses_1', 40n, [own(20)]);
    for (const [sql, found] of [
      [
        'UPDATE session_lines SET counted_micro_usd = 19',
        /^The line of session ses_1 with alpha\/one counts 0\.000019 USD/,
      ],
      ['UPDATE own_spend SET micro_usd = 21', /^Own keys of session ses_1 count/],
      ['UPDATE own_holds SET micro_usd = 41', /is held under the ceiling of key_/],
      ['UPDATE spend_ceilings SET spent_micro_usd = 0', /^The spend under the ceiling of key_/],
    ] as const)
      expect(editedCopy(rig, sql).ledger.auditLedger().faults).toContainEqual(expect.stringMatching(found));
  });
});

it('never passes a ceiling over any calls on own and paid models', () => {
  const call = fc.record({
    kind: fc.constantFrom('own', 'paid', 'settle', 'wait'),
    id: fc.integer({ min: 0, max: 5 }),
    microUsd: fc.integer({ min: 1, max: 80 }),
  });
  const property = fc.property(fc.array(call, { minLength: 5, maxLength: 60 }), (calls) => {
    const rig = rigWith([ceiling(150)], 10_000n);
    const { ledger, clock, who } = rig;
    const sessions = new Map<number, { own: number; paid: number; held: number; isOwn: boolean; isSettled: boolean }>();
    for (const { kind, id, microUsd } of calls) {
      if (kind === 'wait') {
        clock.nowMs += 61_000;
        ledger.expireHolds();
        for (const each of sessions.values()) each.held = 0;
        continue;
      }
      const name = `ses_${id}`;
      const session = sessions.get(id) ?? { own: 0, paid: 0, held: 0, isOwn: kind === 'own', isSettled: false };
      if (session.isSettled) continue;
      // What is used is what was held for, as a meter sees to.
      const used = Math.min(session.held, microUsd);
      session[session.isOwn ? 'own' : 'paid'] += used;
      const lines = [...(session.own > 0 ? [own(session.own)] : []), ...(session.paid > 0 ? [paid(session.paid)] : [])];
      const head = headOf(who, name, { model: A });
      if (kind === 'settle') {
        rig.settle(name, lines);
        session.isSettled = true;
        session.held = 0;
      } else {
        const isOwn = kind === 'own';
        const isKnown = sessions.has(id);
        const hold = holdOf(BigInt(microUsd));
        try {
          const grant = isOwn
            ? ledger.holdOwn(head, lines, hold)
            : isKnown
              ? ledger.renewHold(head, lines, hold)
              : ledger.openSession(head, hold);
          Object.assign(session, { held: Number(grant.heldMicroUsd), isOwn });
        } catch (error) {
          expect((error as StoreError).reason).toBe('spend_ceiling');
          continue;
        }
      }
      sessions.set(id, session);
      const [[spent = 0, held = 0] = []] = rig.counters();
      expect(spent + held).toBeLessThanOrEqual(150);
      const all = [...sessions.values()];
      expect(spent).toBe(all.reduce((sum, each) => sum + each.own + each.paid, 0));
    }
    const { paid: charged } = [...sessions.values()].reduce((sum, each) => ({ paid: sum.paid + each.paid }), {
      paid: 0,
    });
    expect(ledger.balanceOf(who.organisationId).balanceMicroUsd).toBe(10_000n - BigInt(charged));
    expectAgreed(rig);
    rig.database.close();
  });
  fc.assert(property, { seed: 41, numRuns: drawn(300) });
});
