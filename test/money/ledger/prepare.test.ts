// Money for a session that was free so far, and is to be heard by a model that costs: asked for once, and not kept where it is not used.
import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Meter, MeterCandidate } from '../../../src/money/ledger/meter.ts';
import { Reservations } from '../../../src/money/ledger/reservations.ts';
import { settle } from '../../fakes/session-rig.ts';
import { headOf, perMinute } from '../../fakes/store/ledger.ts';
import { MemoryLedger } from '../../fakes/store/memory-ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const FREE: MeterCandidate = { slug: 'a/free', own: false, price: perMinute(0n) };
const OWN: MeterCandidate = { slug: 'a/paid', own: true, price: perMinute(600_000n) };
const PAID: MeterCandidate = { slug: 'a/paid', own: false, price: perMinute(600_000n) };
/** What a minute of it can cost. */
const MINUTE = 600_001n;

let clock: SimulatedClock;
let ledger: MemoryLedger;

beforeEach(() => {
  clock = new SimulatedClock();
  ledger = new MemoryLedger(10_000_000n);
});

async function begun(members: readonly MeterCandidate[]): Promise<Meter> {
  const reservations = new Reservations({
    store: ledger,
    clock,
    wallNow: () => new Date(0),
    node: 'node',
    settings: { directory: temporaryDirectory(), journalSyncMs: 2_000_000_000, graceMs: 0, historyDays: 0 },
    onFault: (_, error) => expect.unreachable(String(error)),
  });
  const meter = await reservations.open(headOf({ organisationId: 'org_1', keyId: 'key_1' }, 'ses_1'), members);
  const source = { settledLines: () => [], sentLines: () => [], connectionLeftMs: () => Number.POSITIVE_INFINITY };
  meter.attach(
    { ...source, settledMs: () => 0, sentMs: () => 0, receivedMs: () => 0 },
    { extended: () => {}, ranOut: () => {}, low: () => {} },
  );
  return meter;
}

const end = { reason: 'client_closed', code: null, audioMs: 0, lines: [], endedAt: new Date(0).toISOString() };

describe('a meter that holds nothing', () => {
  test.each([FREE, OWN])('holds a minute of the next model once, which pays for its audio', async (free) => {
    const meter = await begun([free]);
    await meter.prepare(PAID);
    await meter.prepare(PAID);
    expect([ledger.held.get('ses_1'), meter.heldMicroUsd]).toEqual([MINUTE, MINUTE]);
    expect(meter.allowedMs).toBe(Number.POSITIVE_INFINITY);
    meter.add([PAID]);
    meter.use(1);
    expect(meter.allowedMs).toBe(60_000);
    await settle();
    expect(ledger.renewals).toEqual([]);
    meter.settle(end);
    await settle();
    expect(ledger.held.size).toBe(0);
  });

  test('gives it back when the model does not come to hear', async () => {
    const meter = await begun([FREE]);
    await meter.prepare(PAID);
    clock.increment(30_000);
    await settle();
    expect([ledger.held.size, meter.heldMicroUsd, ledger.renewals.length]).toEqual([0, 0n, 1]);
    clock.increment(120_000);
    await settle();
    expect(ledger.renewals).toHaveLength(1);
  });

  test('asks for nothing for another that is free', async () => {
    const meter = await begun([FREE]);
    ledger.failing = 'overflow';
    await meter.prepare(OWN);
    expect(meter.heldMicroUsd).toBe(0n);
  });

  test.each([
    ['there is no credit', () => (ledger.balance = 0n), 'insufficient_credit'],
    ['the ledger is away', () => (ledger.failing = 'overflow'), 'ledger_unavailable'],
  ])('fails where %s, and stays free as before', async (_, happens, code) => {
    const meter = await begun([FREE]);
    happens();
    await expect(meter.prepare(PAID)).rejects.toMatchObject({ code });
    expect([meter.heldMicroUsd, meter.state, meter.allowedMs]).toEqual([0n, 'free', Number.POSITIVE_INFINITY]);
    expect(ledger.held.size).toBe(0);
  });

  test('holds nothing where its session ends before the answer', async () => {
    const meter = await begun([FREE]);
    let open = () => {};
    ledger.gate = new Promise((resolve) => (open = resolve));
    const preparing = meter.prepare(PAID);
    meter.settle(end);
    open();
    await preparing;
    await settle();
    clock.increment(120_000);
    await settle();
    expect([ledger.held.size, ledger.renewals.length]).toEqual([0, 0]);
  });
});

test('needs no further hold on a meter with money, at any next price', async () => {
  const meter = await begun([PAID]);
  ledger.balance = 0n;
  await meter.prepare({ ...PAID, slug: 'a/dearer', price: perMinute(6_000_000n) });
  expect([ledger.held.get('ses_1'), meter.heldMicroUsd]).toEqual([MINUTE, MINUTE]);
});
