// `spend.reached`: when a key has spent or holds what it may spend in a day, once for each day, whichever node notices.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { Reservations } from '../../src/money/ledger/reservations.ts';
import { SpendReports } from '../../src/webhooks/spend.ts';
import { directStore } from '../fakes/store/direct-store.ts';
import { headOf, holdOf } from '../fakes/store/ledger.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { idle, webhookRig } from './rig.ts';

const DAY_MS = 86_400_000;

function node(rig: ReturnType<typeof webhookRig>, name: string) {
  const wallNow = () => new Date(rig.wall.nowMs);
  const spend = new SpendReports(rig.queue, wallNow);
  return new Reservations({
    ...{ store: rig.store, clock: new SimulatedClock(), wallNow, node: name },
    settings: { directory: temporaryDirectory(), journalSyncMs: 2_000_000_000, graceMs: 0, historyDays: 0 },
    onFault: (_, error) => expect.unreachable(String(error)),
    onDailySpend: (head) => spend.reached(head),
    onCeiling: (ceiling) => void spend.ceiling(ceiling),
  });
}

it('is reported once a day by two nodes, for a hold that is refused or shortened', async () => {
  const rig = webhookRig();
  const who = rig.customer({ credit: 10_000_000n, dailyMax: 1_000n });
  rig.create(who.organisationId, 'https://a.example/', ['spend.reached']);
  rig.start();
  await idle();
  const [one, two] = [node(rig, 'one'), node(rig, 'two')];
  const days = () => rig.sent.map(({ body }) => [body.type, body.data]);

  await one.hold(headOf(who, 'ses_1'), holdOf(900n));
  await rig.pass(1_000);
  expect(days()).toEqual([]);
  // Shortened to what is left.
  expect(await one.hold(headOf(who, 'ses_2'), holdOf(900n))).toMatchObject({ heldMicroUsd: 100n });
  await expect(two.hold(headOf(who, 'ses_3'), holdOf(900n, 900n))).rejects.toMatchObject({
    code: 'rate_limit_exceeded',
  });
  await expect(two.hold(headOf(who, 'ses_4'), holdOf(900n, 900n))).rejects.toThrow();
  await rig.pass(1_000);
  const more = { scope: 'key', period: 'day', percent: 100 };
  const first = ['spend.reached', { key_id: who.keyId, date: '2026-11-21', ...more }];
  expect(days()).toEqual([first]);
  await rig.pass(DAY_MS);
  await expect(two.hold(headOf(who, 'ses_5'), holdOf(9_000n, 9_000n))).rejects.toThrow();
  await rig.pass(1_000);
  expect(days()).toEqual([first, ['spend.reached', { key_id: who.keyId, date: '2026-11-22', ...more }]]);
});

it('is reported at 50, 80 and 100 % of a ceiling, once in its period, by whichever node holds or is refused', async () => {
  const rig = webhookRig();
  const who = rig.customer({ limit: null });
  const ceilings = [{ usd: '0.001', period: 'hour', provider: 'loopback' }] as const;
  rig.ledger.setSpendCeilings(who.organisationId, ceilings, { type: 'operator', id: 'test' });
  rig.create(who.organisationId, 'https://a.example/', ['spend.reached']);
  rig.start();
  await idle();
  const nodes = [node(rig, 'one'), node(rig, 'two')];
  const percents = () => rig.sent.map(({ body }) => body.data.percent);
  const hold = (index: number, wanted: bigint, least = 0n) =>
    nodes[index % 2]!.hold(headOf(who, `ses_${index}`), holdOf(wanted, least, 3 * 3_600_000));
  await hold(1, 400n);
  await rig.pass(1_000);
  expect(percents()).toEqual([]);
  await hold(2, 100n);
  await rig.pass(1_000);
  expect(rig.sent.map(({ body }) => [body.type, body.data])).toEqual([
    [
      'spend.reached',
      {
        ...{ key_id: null, date: '2026-11-21', scope: 'organisation', provider: 'loopback' },
        ...{ period: 'hour', period_start: '2026-11-21T12:00:00.000Z', percent: 50 },
        ...{ limit_usd: '0.001', used_usd: '0.0005' },
      },
    ],
  ]);
  await hold(3, 300n);
  await hold(4, 600n);
  for (const index of [5, 6, 7, 8]) await expect(hold(index, 600n, 600n)).rejects.toThrow(/spend ceiling/);
  await rig.pass(1_000);
  expect(percents()).toEqual([50, 80, 100]);
});

it.each([
  ['a hold', 'a part of a ceiling', 500n],
  ['a refused hold', 'a ceiling', 2_000n],
])(
  'is delivered after a restart of the accounts between %s that reaches %s and the delivery',
  async (_, what, wanted) => {
    const file = join(temporaryDirectory(), 'accounts.db');
    const before = webhookRig({}, undefined, directStore(file));
    const who = before.customer({ limit: null });
    const ceilings = [{ usd: '0.001', period: 'hour' }] as const;
    before.ledger.setSpendCeilings(who.organisationId, ceilings, { type: 'operator', id: 'test' });
    before.create(who.organisationId, 'https://a.example/', ['spend.reached']);
    // The node that asked never hears the answer, and reports nothing.
    const hold = { ...holdOf(wanted, wanted), keepsReached: true } as const;
    before.ledger.openSession(headOf(who, 'ses_1'), hold);
    before.ledger.openSession(headOf(who, 'ses_1'), hold);
    before.database.close();

    const after = webhookRig({}, undefined, directStore(file));
    after.start();
    await idle();
    await after.pass(1_000);
    const data = {
      scope: 'organisation',
      period: 'hour',
      percent: what === 'a ceiling' ? 100 : 50,
      limit_usd: '0.001',
    };
    expect(after.sent.map(({ body }) => body)).toMatchObject([
      { type: 'spend.reached', timestamp: '2026-11-21T12:00:00.000Z', data },
    ]);
    // Asked again, it is the same event.
    after.ledger.openSession(headOf(who, 'ses_2'), { ...hold, wantedMicroUsd: 1n, leastMicroUsd: 1n });
    if (what === 'a ceiling') after.ledger.openSession(headOf(who, 'ses_3'), hold);
    await after.pass(1_000);
    expect(after.sent).toHaveLength(1);
    after.database.close();
  },
);

it('has the same id where a node reports it and the accounts keep it', async () => {
  const rig = webhookRig();
  const who = rig.customer({ limit: null });
  const ceilings = [{ usd: '0.001', period: 'hour' }] as const;
  rig.ledger.setSpendCeilings(who.organisationId, ceilings, { type: 'operator', id: 'test' });
  rig.create(who.organisationId, 'https://a.example/', ['spend.reached']);
  rig.start();
  await idle();
  const spend = new SpendReports(rig.queue, () => new Date(rig.wall.nowMs));
  const { reached = [] } = rig.ledger.openSession(headOf(who, 'ses_1'), { ...holdOf(500n), keepsReached: true });
  expect(reached).toMatchObject([{ percent: 50, isKept: true }]);
  // As a node of an older version does, which does not know that it is kept.
  for (const { isKept: _, ...one } of reached) expect(spend.ceiling(one)).toBe(true);
  await rig.pass(1_000);
  expect(rig.sent).toHaveLength(1);
});

it('is kept once for a key that has spent its day, and by no accounts that are not asked to', async () => {
  const rig = webhookRig();
  const who = rig.customer({ credit: 10_000_000n, dailyMax: 1_000n });
  const kept = () => rig.database.prepare('SELECT count(*) FROM spend_reports').pluck().get();
  expect(() => rig.ledger.openSession(headOf(who, 'ses_0'), holdOf(2_000n, 2_000n))).toThrow(/limit for today/);
  expect(kept()).toBe(0);
  const hold = { ...holdOf(900n, 900n), keepsReached: true } as const;
  rig.ledger.openSession(headOf(who, 'ses_1'), hold);
  for (const id of ['ses_2', 'ses_3'])
    expect(rig.ledger.openSession(headOf(who, id), hold)).toEqual({
      ...{ heldMicroUsd: 0n, limitedBy: 'daily_spend', isRefused: true, isDayKept: true },
    });
  expect(rig.ledger.findSession(who.organisationId, 'ses_2')).toBeUndefined();
  expect(kept()).toBe(1);
});

it('is forgotten by the accounts once no period may repeat it', () => {
  const rig = webhookRig();
  const who = rig.customer({ credit: 10_000_000n, dailyMax: 100n });
  const names = () => rig.database.prepare('SELECT name FROM spend_reports').pluck().all();
  const hold = { ...holdOf(900n, 900n), keepsReached: true } as const;
  rig.ledger.openSession(headOf(who, 'ses_1'), hold);
  rig.wall.nowMs += 41 * DAY_MS;
  rig.ledger.openSession(headOf(who, 'ses_1'), hold);
  expect(names()).toEqual([`${who.keyId} 2027-01-01`]);
});
