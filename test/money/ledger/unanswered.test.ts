// A ledger that does not answer: customers without any limit begin on trust and are billed later, others are refused, and a hold
// that was made without an answer is given back.
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { FileReservations } from '../../../src/files/money/file-reservations.ts';
import type { MeterCandidate } from '../../../src/money/ledger/meter.ts';
import { Reservations } from '../../../src/money/ledger/reservations.ts';
import type { SessionHead } from '../../../src/money/store/calls.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { settle as everything } from '../../fakes/session-rig.ts';
import { directStore } from '../../fakes/store/direct-store.ts';
import { headOf, perMinute } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const PAID: MeterCandidate = { slug: 'a/paid', own: false, price: perMinute(600_000n) };
const GRACE_MS = 90_000;

function world(graceMs = GRACE_MS) {
  const clock = new SimulatedClock();
  const direct = directStore();
  const state = { isAway: false, isUnsent: false, applies: false, calls: 0 };
  /** While away: nothing comes back, whether it was applied or not. */
  const openSession: typeof direct.store.openSession = async (...args) => {
    state.calls++;
    if (state.isAway && state.applies) await direct.store.openSession(...args);
    if (state.isAway) throw new StoreError('unreachable', 'It is away.', { isUnsent: state.isUnsent });
    return direct.store.openSession(...args);
  };
  const renewHold: typeof direct.store.renewHold = async (...args) => {
    state.calls++;
    if (state.isAway) throw new StoreError('unreachable', 'It is away.');
    return direct.store.renewHold(...args);
  };
  const wallNow = () => new Date(direct.clock.nowMs);
  const reservations = new Reservations({
    store: { ...direct.store, openSession, renewHold },
    clock,
    wallNow,
    node: 'abc123',
    settings: { directory: temporaryDirectory(), journalSyncMs: 2_000_000_000, graceMs, historyDays: 0 },
    onFault: () => {},
  });
  const files = new FileReservations({ reservations, clock, wallNow });
  const pass = async (ms: number) => {
    clock.increment(ms);
    await everything();
  };
  return { ...direct, clock: direct.clock, state, reservations, files, pass };
}

type World = ReturnType<typeof world>;

const heldOf = ({ ledger }: World, { organisationId }: Pick<SessionHead, 'organisationId'>) =>
  ledger.balanceOf(organisationId).heldMicroUsd;

/** A source whose audio is all settled as it is sent. */
function speaker() {
  const said = { ms: 0 };
  const lines = () => [{ model: PAID.slug, own: false, audioMs: said.ms, price: PAID.price }];
  const at = () => said.ms;
  const source = {
    settledLines: lines,
    sentLines: lines,
    settledMs: at,
    sentMs: at,
    receivedMs: at,
    connectionLeftMs: () => Number.POSITIVE_INFINITY,
  };
  return { said, source, lines };
}

describe('a customer without any limit, while the ledger does not answer', () => {
  test('begins a live session on trust, within the grace, and is billed exactly when the ledger is back', async () => {
    const rig = world();
    const { state, reservations, ledger, pass, customer } = rig;
    const who = customer({ limit: null });
    state.isAway = true;
    const head = headOf(who, 'ses_trusted');
    const meter = await reservations.open(head, [PAID], true);
    const { said, source, lines } = speaker();
    const shortages: string[] = [];
    meter.attach(source, { extended: () => {}, ranOut: () => {}, low: (shortage) => shortages.push(shortage) });
    expect([meter.state, meter.allowedMs]).toEqual(['trusted', 30_000]);
    for (let second = 0; second < 100; second++) await pass(1_000);
    expect([meter.allowedMs, meter.state, shortages]).toEqual([GRACE_MS, 'short', ['ledger']]);
    said.ms = 42_000;
    state.isAway = false;
    for (let second = 0; second < 20; second++) await pass(1_000);
    expect([meter.state, shortages]).toEqual(['held', ['ledger']]);
    meter.settle({ endedAt: head.openedAt, reason: 'client_closed', code: null, audioMs: 42_000, lines: lines() });
    await everything();
    expect(ledger.findSession(who.organisationId, head.id)).toMatchObject({ costMicroUsd: 420_000n, heldMicroUsd: 0n });
    expect([heldOf(rig, who), ledger.auditLedger()]).toMatchObject([0n, { ok: true, openHolds: 0 }]);
  });

  test('gets files transcribed on trust, and pays once', async () => {
    const rig = world();
    const { state, files, ledger, customer } = rig;
    const who = customer({ limit: null });
    state.isAway = true;
    const member = { ...PAID, channels: 1 };
    const reserved = await files.reserve({
      id: 'req_trusted',
      ...who,
      model: PAID.slug,
      members: [member],
      secondsMax: 60,
      isUnlimited: true,
    });
    expect(await reserved.settle({ member, seconds: 30 })).toBe(300_000n);
    await everything();
    expect(ledger.findSession(who.organisationId, 'req_trusted')).toMatchObject({ costMicroUsd: 300_000n });
    expect(ledger.auditLedger()).toMatchObject({ ok: true, openHolds: 0 });
  });

  test('cannot send a file again that an earlier attempt may have paid for', async () => {
    const { state, files, customer } = world();
    state.isAway = true;
    const member = { ...PAID, channels: 1 };
    const again = { id: 'req_1', ...customer({ limit: null }), model: PAID.slug, members: [member], secondsMax: 60 };
    await expect(files.reserve({ ...again, again: true, isUnlimited: true })).rejects.toMatchObject({
      code: 'ledger_unavailable',
    });
  });

  test('cannot start where the operator allows no grace', async () => {
    const { state, reservations, customer } = world(0);
    state.isAway = true;
    await expect(reservations.open(headOf(customer({ limit: null }), 'ses_1'), [PAID], true)).rejects.toMatchObject({
      code: 'ledger_unavailable',
    });
  });
});

describe('a hold that was made without an answer', () => {
  test('releases when the ledger answers, and closes the refused session', async () => {
    const rig = world();
    const { state, reservations, ledger, pass, customer } = rig;
    const who = customer({ credit: 1_000_000n });
    Object.assign(state, { isAway: true, applies: true });
    const head = headOf(who, 'ses_refused');
    await expect(reservations.open(head, [PAID])).rejects.toMatchObject({ code: 'ledger_unavailable' });
    expect(heldOf(rig, who)).toBeGreaterThan(0n);
    for (let second = 0; second < 5; second++) await pass(1_000);
    expect(heldOf(rig, who)).toBeGreaterThan(0n);
    state.isAway = false;
    await pass(10_000);
    expect(heldOf(rig, who)).toBe(0n);
    expect(ledger.findSession(who.organisationId, head.id)).toMatchObject({ reason: 'ledger', costMicroUsd: 0n });
    const { calls } = state;
    await pass(60_000);
    expect(state.calls).toBe(calls);
  });

  test('releases for a file, which is charged when it is sent again under its id', async () => {
    const rig = world();
    const { state, files, ledger, pass, customer } = rig;
    const who = customer({ credit: 1_000_000n });
    const member = { ...PAID, channels: 1 };
    const request = { id: 'req_1', ...who, model: PAID.slug, members: [member], secondsMax: 60 };
    Object.assign(state, { isAway: true, applies: true });
    await expect(files.reserve(request)).rejects.toMatchObject({ code: 'ledger_unavailable' });
    state.isAway = false;
    await pass(1_000);
    expect(heldOf(rig, who)).toBe(0n);
    const reserved = await files.reserve({ ...request, again: true });
    expect(await reserved.settle({ member, seconds: 60 })).toBe(600_000n);
    expect(ledger.auditLedger()).toMatchObject({ ok: true, openHolds: 0 });
  });

  test('leaves nothing where the ledger never received it, and no lookup where it was never sent', async () => {
    const { state, reservations, ledger, pass, customer } = world();
    const who = customer({ credit: 1_000_000n });
    Object.assign(state, { isAway: true });
    await expect(reservations.open(headOf(who, 'ses_lost'), [PAID])).rejects.toMatchObject({});
    state.isAway = false;
    await pass(1_000);
    expect(ledger.findSession(who.organisationId, 'ses_lost')).toBeUndefined();
    Object.assign(state, { isAway: true, isUnsent: true, calls: 0 });
    await expect(reservations.open(headOf(who, 'ses_unsent'), [PAID])).rejects.toMatchObject({});
    state.isAway = false;
    await pass(60_000);
    expect(state.calls).toBe(1);
  });
});
