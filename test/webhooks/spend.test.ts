// `spend.reached`: when a key has spent or holds what it may spend in a day, once for each day, whichever node notices.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { Reservations } from '../../src/money/ledger/reservations.ts';
import { SpendReports } from '../../src/webhooks/spend.ts';
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
  const first = ['spend.reached', { key_id: who.keyId, date: '2026-11-21' }];
  expect(days()).toEqual([first]);
  await rig.pass(DAY_MS);
  await expect(two.hold(headOf(who, 'ses_5'), holdOf(9_000n, 9_000n))).rejects.toThrow();
  await rig.pass(1_000);
  expect(days()).toEqual([first, ['spend.reached', { key_id: who.keyId, date: '2026-11-22' }]]);
});
