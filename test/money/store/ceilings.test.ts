// Ceilings on spend: what is spent in an hour, day or month and what is held never come to more than one of them, over keys,
// organisations and providers; and who uses half, four fifths or all of one is said once.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpendCeiling } from '../../../src/api/spend-ceilings.ts';
import type { HoldRequest } from '../../../src/money/store/calls.ts';
import { ceilingIn, ceilingSentence } from '../../../src/money/store/ceiling-words.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { drawn } from '../../fakes/drawn.ts';
import {
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

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const A = 'alpha/one';
const B = 'beta/two';

const softly = (of: SpendCeiling, onlyUpTo: string): SpendCeiling => ({ ...of, only_up_to: onlyUpTo });

const ceiling = (microUsd: number, period: SpendCeiling['period'], provider?: string): SpendCeiling => ({
  usd: `0.${String(microUsd).padStart(6, '0')}`,
  period,
  ...(provider === undefined ? {} : { provider }),
});

interface Who {
  organisationId: string;
  keyId: string;
}

function rigWith(ceilings: { key?: SpendCeiling[]; organisation?: SpendCeiling[]; gateway?: SpendCeiling[] }) {
  const rig = ledgerRig();
  const who = rig.customer({ limit: null });
  const { ledger } = rig;
  if (ceilings.key) ledger.changeKey(who.organisationId, who.keyId, { spendCeilings: ceilings.key }, OPERATOR);
  if (ceilings.organisation) ledger.setSpendCeilings(who.organisationId, ceilings.organisation, OPERATOR);
  if (ceilings.gateway) ledger.setGatewayCeilings(ceilings.gateway);
  const open = (id: string, wanted: bigint, least = 0n, by: Who = who, model = A, more: Partial<HoldRequest> = {}) =>
    ledger.openSession(headOf(by, id, { model }), { ...holdOf(wanted, least), ...more });
  const renew = (id: string, cost: bigint, wanted: bigint, more: Partial<HoldRequest> = {}, model = A) =>
    ledger.renewHold(headOf(who, id), cost === 0n ? [] : [costing(cost, model)], { ...holdOf(wanted), ...more });
  const settle = (id: string, cost: bigint, by: Who = who, model = A) =>
    ledger.settleSession(headOf(by, id, { model }), endOf(cost === 0n ? [] : [costing(cost, model)]));
  const another = () => ({
    organisationId: who.organisationId,
    keyId: ledger.createKey(who.organisationId, {}, OPERATOR).key.id,
  });
  return { ...rig, who, open, renew, settle, another };
}

/** A micro-dollar a millisecond. */
const costing = (microUsd: bigint, model: string) => lineOf(Number(microUsd), perMinute(60_000n), { model });

function reasonOf(work: () => unknown): string {
  try {
    work();
    return 'done';
  } catch (error) {
    if (error instanceof StoreError) return error.reason;
    throw error;
  }
}

const expectAgreed = ({ ledger }: Pick<LedgerRig, 'ledger'>) =>
  expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });

describe('a ceiling', () => {
  it.each(['key', 'organisation', 'gateway'] as const)('of a %s grants what is left, then refuses', (scope) => {
    const rig = rigWith({ [scope]: [ceiling(100, 'day')] });
    const { open, settle } = rig;
    expect(open('ses_1', 60n)).toMatchObject({ heldMicroUsd: 60n, limitedBy: null });
    expect(open('ses_2', 60n)).toMatchObject({ heldMicroUsd: 40n, limitedBy: 'ceiling' });
    expect(reasonOf(() => open('ses_3', 60n, 1n))).toBe('spend_ceiling');
    settle('ses_1', 10n);
    expect(open('ses_3', 60n, 1n)).toMatchObject({ heldMicroUsd: 50n, limitedBy: 'ceiling' });
    settle('ses_2', 40n);
    settle('ses_3', 50n);
    expect(reasonOf(() => open('ses_4', 60n, 1n))).toBe('spend_ceiling');
    expectAgreed(rig);
  });

  it('of a key is not about other keys, and that of an organisation is', () => {
    const rig = rigWith({ key: [ceiling(100, 'day')], organisation: [ceiling(150, 'day')] });
    expect(rig.open('ses_1', 100n)).toMatchObject({ limitedBy: null });
    expect(rig.open('ses_2', 100n, 0n, rig.another())).toMatchObject({ heldMicroUsd: 50n, limitedBy: 'ceiling' });
    expect(rig.open('ses_3', 100n, 0n, rig.customer({ limit: null }))).toEqual({
      heldMicroUsd: 100n,
      limitedBy: null,
      unlimited: true,
    });
    expectAgreed(rig);
  });

  it('of the gateway is about all organisations', () => {
    const rig = rigWith({ gateway: [ceiling(100, 'month')] });
    rig.open('ses_1', 60n);
    expect(rig.open('ses_2', 60n, 0n, rig.customer({ limit: null }))).toMatchObject({ heldMicroUsd: 40n });
    expectAgreed(rig);
  });

  it.each([
    ['hour', HOUR_MS],
    ['day', DAY_MS],
    ['month', 10 * DAY_MS],
  ] as const)('of an %s begins again with the next one by UTC', (period, lengthMs) => {
    const rig = rigWith({ key: [ceiling(100, period)] });
    const { open, settle, clock } = rig;
    open('ses_1', 100n);
    settle('ses_1', 100n);
    clock.nowMs += lengthMs - 12 * HOUR_MS * (period === 'hour' ? 0 : 1) - 1;
    expect(reasonOf(() => open('ses_2', 60n, 1n))).toBe('spend_ceiling');
    clock.nowMs += 1;
    expect(open('ses_2', 200n)).toMatchObject({ heldMicroUsd: 100n });
    expectAgreed(rig);
  });

  it('counts a hold over the end of its period, and its charge where it is posted', () => {
    const rig = rigWith({ key: [ceiling(100, 'hour')] });
    const { open, settle, clock } = rig;
    open('ses_1', 80n, 0n, rig.who, A, { leaseMs: 2 * HOUR_MS });
    clock.nowMs += HOUR_MS;
    expect(open('ses_2', 60n)).toMatchObject({ heldMicroUsd: 20n, limitedBy: 'ceiling' });
    settle('ses_1', 80n);
    expect(reasonOf(() => open('ses_3', 1n, 1n))).toBe('spend_ceiling');
    expectAgreed(rig);
  });

  it('does not begin again when the clock goes back', () => {
    const rig = rigWith({ key: [ceiling(100, 'hour')] });
    const { open, settle, clock } = rig;
    clock.nowMs += HOUR_MS;
    open('ses_1', 100n);
    settle('ses_1', 100n);
    clock.nowMs -= HOUR_MS;
    expect(reasonOf(() => open('ses_2', 1n, 1n))).toBe('spend_ceiling');
    expectAgreed(rig);
  });

  it('of a provider is about its models alone', () => {
    const rig = rigWith({ key: [ceiling(100, 'day', 'alpha')] });
    const { open, settle, who } = rig;
    open('ses_1', 100n);
    settle('ses_1', 100n);
    expect(reasonOf(() => open('ses_2', 1n, 1n))).toBe('spend_ceiling');
    expect(open('ses_3', 500n, 0n, who, B)).toMatchObject({ heldMicroUsd: 500n, limitedBy: null, providers: ['beta'] });
    settle('ses_3', 400n, who, B);
    expectAgreed(rig);
  });

  it('is about every provider that a hold is for', () => {
    const rig = rigWith({ key: [ceiling(100, 'day', 'beta')] });
    const { open, who } = rig;
    expect(open('ses_1', 70n, 0n, who, A, { providers: ['alpha', 'beta'] })).toMatchObject({ heldMicroUsd: 70n });
    expect(open('ses_2', 70n, 0n, who, B)).toMatchObject({ heldMicroUsd: 30n, limitedBy: 'ceiling' });
    expectAgreed(rig);
  });

  it('keeps a hold for its providers where another has nothing left', () => {
    const rig = rigWith({ key: [ceiling(100, 'day', 'beta')] });
    const { open, renew, settle, who } = rig;
    open('ses_1', 100n, 0n, who, B);
    open('ses_2', 60n);
    expect(renew('ses_2', 10n, 60n, { providers: ['alpha', 'beta'] })).toMatchObject({
      heldMicroUsd: 50n,
      limitedBy: 'ceiling',
      providers: ['alpha'],
    });
    settle('ses_1', 0n, who, B);
    expect(renew('ses_2', 10n, 60n, { providers: ['alpha', 'beta'] })).toMatchObject({
      heldMicroUsd: 60n,
      limitedBy: null,
      providers: ['alpha', 'beta'],
    });
    expectAgreed(rig);
  });

  it('that is lowered takes no hold back, and grants nothing more', () => {
    const rig = rigWith({ key: [ceiling(100, 'day')] });
    const { open, renew, ledger, who } = rig;
    open('ses_1', 80n);
    ledger.changeKey(who.organisationId, who.keyId, { spendCeilings: [ceiling(10, 'day')] }, OPERATOR);
    expect(reasonOf(() => open('ses_2', 1n, 1n))).toBe('spend_ceiling');
    expect(renew('ses_1', 30n, 80n)).toMatchObject({ heldMicroUsd: 50n, limitedBy: 'ceiling' });
    expectAgreed(rig);
  });

  it('counts what was spent and held before it was set', () => {
    const rig = rigWith({});
    const { open, settle, ledger, who } = rig;
    open('ses_1', 30n);
    settle('ses_1', 30n);
    open('ses_2', 20n);
    ledger.setSpendCeilings(who.organisationId, [ceiling(100, 'month'), ceiling(60, 'day', 'alpha')], OPERATOR);
    expect(open('ses_3', 100n)).toMatchObject({ heldMicroUsd: 10n, limitedBy: 'ceiling' });
    expect(open('ses_4', 100n, 0n, who, B)).toMatchObject({ heldMicroUsd: 40n });
    expectAgreed(rig);
    ledger.setSpendCeilings(who.organisationId, [], OPERATOR);
    expect(open('ses_5', 100n)).toEqual({ heldMicroUsd: 100n, limitedBy: null, unlimited: true });
  });

  it('gives back a hold whose lease is over', () => {
    const rig = rigWith({ key: [ceiling(100, 'day')] });
    rig.open('ses_1', 100n);
    rig.clock.nowMs += 61_000;
    rig.ledger.expireHolds();
    expect(rig.open('ses_2', 100n)).toMatchObject({ heldMicroUsd: 100n });
    expectAgreed(rig);
  });

  it('says who used half, four fifths and all of it, once in each period', () => {
    const rig = rigWith({ key: [ceiling(100, 'day')] });
    const { open, renew, settle, clock, who } = rig;
    const percents = (grant: { reached?: readonly { percent: number }[] }) =>
      grant.reached?.map(({ percent }) => percent);
    expect(percents(open('ses_1', 49n))).toBeUndefined();
    expect(renew('ses_1', 0n, 50n).reached).toEqual([
      {
        ...{ scope: who.keyId, provider: '', period: 'day', span: '2026-11-21', limitMicroUsd: 100n },
        ...{ organisationId: who.organisationId, percent: 50, usedMicroUsd: 50n },
      },
    ]);
    expect(percents(renew('ses_1', 0n, 40n))).toBeUndefined();
    expect(percents(renew('ses_1', 0n, 60n))).toBeUndefined();
    expect(percents(renew('ses_1', 0n, 99n))).toEqual([80]);
    expect(percents(renew('ses_1', 0n, 300n))).toEqual([100]);
    settle('ses_1', 100n);
    clock.nowMs += DAY_MS;
    expect(percents(open('ses_2', 200n))).toEqual([100]);
    expectAgreed(rig);
  });

  it('of nothing refuses at once', () => {
    const { open } = rigWith({ key: [{ usd: '0', period: 'month' }] });
    expect(reasonOf(() => open('ses_1', 1n, 1n))).toBe('spend_ceiling');
  });

  it('refuses in a sentence that names it', () => {
    const names = [
      { scope: 'gateway', provider: '', period: 'hour', span: '2026-11-21T12', limitMicroUsd: 1n },
      { scope: 'org_1', provider: '', period: 'day', span: '2026-11-21', limitMicroUsd: 1n, onlyUpToMicroUsd: 5_000n },
      { scope: 'key_a1-b2', provider: 'own-vendor', period: 'month', span: '2026-11', limitMicroUsd: 12_500_000n },
    ] as const;
    for (const name of names) expect(ceilingIn(ceilingSentence(name))).toEqual(name);
    expect(ceilingIn('There is no session.')).toBeUndefined();
  });

  it('is one for each provider and period, and a list of them is short', () => {
    const { ledger, who } = rigWith({});
    const set = (spendCeilings: unknown) =>
      reasonOf(() => ledger.changeKey(who.organisationId, who.keyId, { spendCeilings } as never, OPERATOR));
    expect(set([ceiling(1, 'day'), ceiling(2, 'day', 'alpha'), ceiling(2, 'hour')])).toBe('done');
    for (const wrong of [
      [ceiling(1, 'day'), ceiling(2, 'day')],
      [{ usd: '-1', period: 'day' }],
      [{ usd: '1', period: 'week' }],
      [{ usd: '1', period: 'day', provider: 'A B' }],
      [{ usd: '1', period: 'day', more: 1 }],
      ...['-1', '', '1e3', 'NaN', '<b>', '0.0000001', '99999999999', 1, null].map((each) => [
        { usd: '1', period: 'day', only_up_to: each },
      ]),
      Array.from({ length: 21 }, (_, index) => ceiling(1, 'day', `p${index}`)),
      'day',
    ])
      expect(set(wrong)).toBe('invalid');
  });

  it('that leaves cheap models bounds dear ones alone, and counts both', () => {
    const rig = rigWith({ key: [softly(ceiling(100, 'day'), '0.01')] });
    const { open, settle } = rig;
    const [cheap, dear] = [{ minuteMicroUsd: 10_000n }, { minuteMicroUsd: 10_001n }];
    expect(open('ses_1', 100n, 1n, rig.who, A, dear)).toMatchObject({ heldMicroUsd: 100n, limitedBy: null });
    expect(reasonOf(() => open('ses_2', 60n, 1n, rig.who, A, dear))).toBe('spend_ceiling');
    expect(open('ses_3', 60n, 1n, rig.who, A, cheap)).toMatchObject({
      ...{ heldMicroUsd: 60n, limitedBy: null, onlyUpTo: [{ provider: '', microUsd: 10_000n }] },
    });
    settle('ses_1', 100n);
    settle('ses_3', 60n);
    // A price for each session is dearer than any.
    for (const each of [{}, dear])
      expect(reasonOf(() => open('ses_4', 1n, 1n, rig.who, A, each))).toBe('spend_ceiling');
    const counters = rig.database.prepare('SELECT spent_micro_usd, held_micro_usd, reported FROM spend_ceilings').raw();
    expect(counters.get()).toEqual([160, 0, 100]);
    expectAgreed(rig);
  });

  it('that leaves cheap models says so in its refusal, unless another one refuses as well', () => {
    const rig = rigWith({
      key: [softly(ceiling(100, 'day'), '0.01')],
      organisation: [softly(ceiling(100, 'day', 'alpha'), '0.02')],
    });
    const keeping = { keepsReached: true, minuteMicroUsd: 50_000n } as const;
    rig.open('ses_1', 100n);
    expect(rig.open('ses_2', 60n, 1n, rig.who, A, keeping)).toMatchObject({
      ...{ heldMicroUsd: 0n, limitedBy: 'ceiling', isRefused: true },
      onlyUpTo: expect.arrayContaining([
        { provider: '', microUsd: 10_000n },
        { provider: 'alpha', microUsd: 20_000n },
      ]),
    });
    rig.ledger.setGatewayCeilings([ceiling(100, 'month')]);
    const refused = rig.open('ses_3', 60n, 1n, rig.who, A, keeping);
    expect(refused).toMatchObject({ isRefused: true });
    expect(refused.onlyUpTo).toBeUndefined();
    expectAgreed(rig);
  });

  it.each([-1n, 10n ** 13n])('refuses a price of %s a minute', (minuteMicroUsd) => {
    const { open } = rigWith({ key: [ceiling(100, 'day')] });
    expect(reasonOf(() => open('ses_1', 1n, 0n, undefined, A, { minuteMicroUsd }))).toBe('invalid');
  });

  it('is found by the audit where what counts under it was changed', () => {
    const rig = rigWith({ key: [ceiling(100, 'day')] });
    rig.open('ses_1', 60n);
    rig.renew('ses_1', 20n, 40n);
    for (const [sql, found] of [
      ['UPDATE spend_ceilings SET held_micro_usd = 0', /is held under the ceiling of key_/],
      ['UPDATE spend_ceilings SET spent_micro_usd = 0', /^The spend under the ceiling of key_/],
    ] as const)
      expect(editedCopy(rig, sql).ledger.auditLedger().faults).toEqual([expect.stringMatching(found)]);
  });
});

describe('any calls on any sessions', () => {
  const MODELS = [A, B];
  const CEILINGS: readonly { scope: 'key' | 'organisation' | 'gateway'; ceiling: SpendCeiling }[] = [
    { scope: 'key', ceiling: ceiling(400, 'hour') },
    { scope: 'key', ceiling: ceiling(250, 'hour', 'beta') },
    { scope: 'organisation', ceiling: ceiling(600, 'day') },
    { scope: 'gateway', ceiling: ceiling(900, 'day', 'alpha') },
    { scope: 'gateway', ceiling: ceiling(2_000, 'month') },
  ];

  interface Held {
    who: Who;
    model: string;
    holdMicroUsd: bigint;
    leaseEndMs: number;
    cost: bigint;
    isSettled: boolean;
  }

  it('never pass a ceiling, whose counters agree with a model of them', () => {
    const call = fc.record({
      kind: fc.constantFrom('open', 'renew', 'settle', 'wait', 'expire'),
      id: fc.integer({ min: 0, max: 7 }),
      microUsd: fc.integer({ min: 1, max: 500 }),
      waitMs: fc.constantFrom(1_000, 30_000, 61_000, HOUR_MS, 7 * HOUR_MS, DAY_MS, 20 * DAY_MS),
    });
    const property = fc.property(fc.array(call, { minLength: 5, maxLength: 60 }), (calls) => {
      const rig = ledgerRig();
      const { ledger, clock } = rig;
      const one = rig.customer({ limit: null });
      const whos = [one, rig.customer({ limit: null })];
      const of = (scope: string) => CEILINGS.filter((each) => each.scope === scope).map((each) => each.ceiling);
      for (const { organisationId, keyId } of whos) {
        ledger.changeKey(organisationId, keyId, { spendCeilings: of('key') }, OPERATOR);
        ledger.setSpendCeilings(organisationId, of('organisation'), OPERATOR);
      }
      ledger.setGatewayCeilings(of('gateway'));
      const sessions = new Map<number, Held>();
      const posted: { who: Who; model: string; atMs: number; microUsd: bigint }[] = [];
      const isIn = (atMs: number, period: SpendCeiling['period']) => {
        const length = { hour: 13, day: 10, month: 7 }[period];
        return new Date(atMs).toISOString().slice(0, length) === new Date(clock.nowMs).toISOString().slice(0, length);
      };
      /** Spent and held under each ceiling of a session's payer, by the model. */
      const uses = (who: Who) =>
        CEILINGS.map(({ scope, ceiling: { usd, period, provider } }) => {
          const counts = (each: { who: Who; model: string }) =>
            (scope === 'gateway' || each.who.keyId === who.keyId) &&
            (provider === undefined || each.model.startsWith(`${provider}/`));
          const spent = posted.filter((each) => counts(each) && isIn(each.atMs, period));
          const held = [...sessions.values()].filter(counts);
          return {
            limit: BigInt(usd.slice(2)),
            provider,
            used:
              spent.reduce((sum, { microUsd }) => sum + microUsd, 0n) +
              held.reduce((sum, { holdMicroUsd }) => sum + holdMicroUsd, 0n),
          };
        });
      const roomOf = (who: Who, model: string) =>
        uses(who)
          .filter(({ provider }) => provider === undefined || model.startsWith(`${provider}/`))
          .map(({ limit, used }) => limit - used)
          .reduce((least, room) => (room < least ? room : least));
      const expireOld = () => {
        ledger.expireHolds();
        for (const each of sessions.values()) if (each.leaseEndMs <= clock.nowMs) each.holdMicroUsd = 0n;
      };
      for (const { kind, id, microUsd, waitMs } of calls) {
        const session = sessions.get(id);
        const who = whos[id % 2]!;
        const model = MODELS[(id >> 1) % 2]!;
        const wanted = BigInt(microUsd);
        if (kind === 'wait') clock.nowMs += waitMs;
        if (kind === 'wait' || kind === 'expire') expireOld();
        if (kind === 'open' && session === undefined) {
          const room = roomOf(who, model);
          const grant = (() => {
            try {
              return ledger.openSession(headOf(who, `ses_${id}`, { model }), holdOf(wanted, 1n));
            } catch (error) {
              expect((error as StoreError).reason).toBe('spend_ceiling');
              return undefined;
            }
          })();
          expect(grant?.heldMicroUsd ?? 0n).toBe(room < 1n ? 0n : room < wanted ? room : wanted);
          if (grant === undefined) continue;
          const leaseEndMs = clock.nowMs + 60_000;
          sessions.set(id, { who, model, holdMicroUsd: grant.heldMicroUsd, leaseEndMs, cost: 0n, isSettled: false });
        }
        if ((kind === 'renew' || kind === 'settle') && session !== undefined && !session.isSettled) {
          // What is used is what was held for, as a meter sees to.
          const more = session.holdMicroUsd < wanted ? session.holdMicroUsd : wanted;
          session.cost += more;
          if (more > 0n) posted.push({ who, model, atMs: clock.nowMs, microUsd: more });
          const left = session.holdMicroUsd - more;
          session.holdMicroUsd = 0n;
          const lines = session.cost === 0n ? [] : [costing(session.cost, model)];
          if (kind === 'settle') {
            session.isSettled = true;
            ledger.settleSession(headOf(who, `ses_${id}`, { model }), endOf(lines));
          } else {
            const room = roomOf(who, model);
            const { heldMicroUsd } = ledger.renewHold(headOf(who, `ses_${id}`), lines, holdOf(wanted));
            const granted = room < wanted ? (room < 0n ? 0n : room) : wanted;
            const kept = left < wanted ? left : wanted;
            expect(heldMicroUsd).toBe(granted > kept ? granted : kept);
            Object.assign(session, { holdMicroUsd: heldMicroUsd, leaseEndMs: clock.nowMs + 60_000 });
          }
        }
        for (const each of whos) for (const { limit, used } of uses(each)) expect(used).toBeLessThanOrEqual(limit);
      }
      for (const [id, { who, model, cost, isSettled }] of sessions) {
        if (isSettled) continue;
        const lines = cost === 0n ? [] : [costing(cost, model)];
        ledger.settleSession(headOf(who, `ses_${id}`, { model }), endOf(lines));
      }
      expectAgreed(rig);
      rig.database.close();
    });
    fc.assert(property, { seed: 40, numRuns: drawn(300) });
  });
});
