// Sessions on own provider keys where there are ceilings on spend: audio goes as far as what is held under them, nothing is charged, and
// a failover between own and paid models holds for each.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { FileReservations } from '../../../src/files/money/file-reservations.ts';
import type { MeterCandidate } from '../../../src/money/ledger/meter.ts';
import { Reservations } from '../../../src/money/ledger/reservations.ts';
import type { UsageLine } from '../../../src/money/store/calls.ts';
import { settle } from '../../fakes/session-rig.ts';
import { directStore } from '../../fakes/store/direct-store.ts';
import { endOf, headOf, lineOf, OPERATOR, perMinute } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

/** A cent a second. */
const PRICE = perMinute(600_000n);
const OWN: MeterCandidate = { slug: 'alpha/one', own: true, counted: true, price: PRICE };
const PAID: MeterCandidate = { slug: 'beta/two', own: false, price: PRICE };
const UNCOUNTED: MeterCandidate = { slug: 'alpha/one', own: true, price: perMinute(0n) };

function rigWith(usd: string, credit = 1_000_000n) {
  const rig = directStore();
  const who = rig.customer({ credit });
  rig.ledger.changeKey(who.organisationId, who.keyId, { spendCeilings: [{ usd, period: 'day' }] }, OPERATOR);
  const clock = new SimulatedClock();
  const faults: unknown[] = [];
  const reservations = new Reservations({
    store: rig.store,
    clock,
    wallNow: () => new Date(rig.clock.nowMs),
    node: 'node',
    settings: { directory: temporaryDirectory(), journalSyncMs: 2_000_000_000, graceMs: 0, historyDays: 0 },
    onFault: (_, error) => faults.push(error),
  });
  const counters = () =>
    rig.database
      .prepare<[], [number, number]>('SELECT spent_micro_usd, held_micro_usd FROM spend_ceilings')
      .raw()
      .get();
  return { ...rig, who, clockOfMeter: clock, reservations, counters, faults };
}

async function sessionWith(usd: string, members: readonly MeterCandidate[], credit?: bigint) {
  const rig = rigWith(usd, credit);
  const head = headOf(rig.who, 'ses_1', { model: members[0]!.slug });
  const meter = await rig.reservations.open(head, members);
  const audio = { lines: [] as UsageLine[], ms: 0 };
  meter.attach(
    {
      settledLines: () => audio.lines,
      sentLines: () => audio.lines,
      connectionLeftMs: () => Number.POSITIVE_INFINITY,
      settledMs: () => audio.ms,
      sentMs: () => audio.ms,
      receivedMs: () => audio.ms,
    },
    { extended: () => {}, ranOut: () => {}, low: () => {} },
  );
  const hear = (member: MeterCandidate, ms: number) => {
    audio.ms += ms;
    const known = audio.lines.find((line) => line.model === member.slug);
    const before = known?.audioMs ?? 0;
    const { slug: model, own, price, counted } = member;
    const line = { ...lineOf(before + ms, price, { model, own }), ...(counted ? { counted } : {}) };
    audio.lines = [...audio.lines.filter((each) => each !== known), line];
  };
  return { ...rig, meter, audio, hear, head };
}

test('sends audio on an own key as far as the ceiling has room, without any credit', async () => {
  const { meter, counters, ledger, who } = await sessionWith('0.10', [OWN], 0n);
  expect(meter.allowedMs).toBe(9_999);
  expect(meter.state).toBe('short');
  expect(counters()).toEqual([0, 100_000]);
  expect(ledger.balanceOf(who.organisationId)).toMatchObject({ heldMicroUsd: 0n });
});

test('refuses a session on an own key that has less than a second left', async () => {
  await expect(sessionWith('0.005', [OWN])).rejects.toMatchObject({ code: 'spend_ceiling_reached' });
});

test('holds nothing for an own key where there is no ceiling', async () => {
  const { meter, counters } = await sessionWith('0.005', [UNCOUNTED]);
  expect(meter.allowedMs).toBe(Number.POSITIVE_INFINITY);
  expect(meter.state).toBe('free');
  await settle();
  expect(counters()).toEqual([0, 0]);
});

test('runs short at the ceiling, and counts what was transcribed once', async () => {
  const { meter, counters, hear, audio, ledger, who, clockOfMeter } = await sessionWith('0.10', [OWN]);
  hear(OWN, 4_000);
  clockOfMeter.increment(30_000);
  await settle();
  expect(counters()).toEqual([40_000, 60_000]);
  hear(OWN, 5_999);
  expect(meter.starved()).toBeUndefined();
  await settle();
  expect(meter.starved()).toBe('ceiling');
  meter.settle({ ...endOf(audio.lines), reason: 'credit' });
  await settle();
  expect(counters()).toEqual([99_990, 0]);
  expect(ledger.findSession(who.organisationId, 'ses_1')).toMatchObject({ costMicroUsd: 0n });
  expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
});

test('fails over from an own key to a paid model and back, each with a hold of its kind', async () => {
  const { meter, counters, hear, audio, ledger, who } = await sessionWith('1', [OWN, PAID]);
  hear(OWN, 2_000);
  meter.use(1);
  expect(meter.allowedMs).toBe(2_000);
  await settle();
  expect(meter.allowedMs).toBe(62_000);
  expect(ledger.balanceOf(who.organisationId)).toMatchObject({ heldMicroUsd: 600_001n });
  expect(counters()).toEqual([20_000, 600_001]);
  hear(PAID, 3_000);
  meter.use(0);
  await settle();
  expect(ledger.balanceOf(who.organisationId)).toMatchObject({ balanceMicroUsd: 970_000n, heldMicroUsd: 0n });
  expect(meter.allowedMs).toBe(65_000);
  meter.settle(endOf(audio.lines));
  await settle();
  expect(counters()).toEqual([50_000, 0]);
  expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
});

test('refuses a change from an own key to a paid model that there is no credit for', async () => {
  const { meter } = await sessionWith('1', [OWN], 0n);
  await expect(meter.prepare(PAID)).rejects.toMatchObject({ code: 'insufficient_credit' });
});

test.each(['conflict', 'invalid'] as const)(
  'counts nothing where the accounts answer %s: they are of an older version',
  async (reason) => {
    const rig = rigWith('0.005');
    rig.failing.set('holdOwn', reason);
    const meter = await rig.reservations.open(headOf(rig.who, 'ses_1', { model: OWN.slug }), [OWN]);
    expect(meter.allowedMs).toBeGreaterThan(60_000);
  },
);

test('refuses a session on an own key while the ledger does not answer, since it is bounded', async () => {
  const rig = rigWith('1');
  rig.failing.set('holdOwn', 'unreachable');
  await expect(rig.reservations.open(headOf(rig.who, 'ses_1', { model: OWN.slug }), [OWN])).rejects.toMatchObject({
    code: 'ledger_unavailable',
  });
});

test('holds for a file on own and paid models, and counts the one that transcribed it', async () => {
  const rig = rigWith('1');
  const { reservations, ledger, who, counters, clockOfMeter: clock } = rig;
  const files = new FileReservations({ reservations, clock, wallNow: () => new Date(rig.clock.nowMs) });
  const members = [OWN, PAID].map((member) => ({ ...member, channels: 1 }));
  const request = { id: 'req_1', ...who, model: OWN.slug, members, secondsMax: 10 };
  const reserved = await files.reserve(request);
  expect(counters()).toEqual([0, 200_002]);
  clock.increment(30_000);
  await settle();
  expect(counters()).toEqual([0, 200_002]);
  expect(await reserved.settle({ member: members[0]!, seconds: 10 })).toBe(0n);
  await settle();
  expect(counters()).toEqual([100_000, 0]);
  expect(ledger.balanceOf(who.organisationId)).toMatchObject({ balanceMicroUsd: 1_000_000n, heldMicroUsd: 0n });
  expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [] });
});

test('gives back what a file on an own key held, whether it is tried again or not', async () => {
  const rig = rigWith('0.15');
  const { reservations, who, counters, clockOfMeter: clock } = rig;
  const files = new FileReservations({ reservations, clock, wallNow: () => new Date(rig.clock.nowMs) });
  const members = [{ ...OWN, channels: 1 }];
  const request = { id: 'req_1', ...who, model: OWN.slug, members, secondsMax: 10 };
  const first = await files.reserve(request);
  await expect(files.reserve({ ...request, id: 'req_2' })).rejects.toMatchObject({ code: 'spend_ceiling_reached' });
  await first.release(true);
  expect(counters()).toEqual([0, 0]);
  const second = await files.reserve({ ...request, again: true });
  expect(counters()).toEqual([0, 100_001]);
  await second.release(false);
  await settle();
  expect(counters()).toEqual([0, 0]);
});
