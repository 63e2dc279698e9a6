// A session under ceilings of providers: it holds for the provider that hears, and for another one before that hears any audio.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { MeterCandidate } from '../../../src/money/ledger/meter.ts';
import { Reservations } from '../../../src/money/ledger/reservations.ts';
import type { ReachedCeiling } from '../../../src/money/store/ceiling-words.ts';
import { settle } from '../../fakes/session-rig.ts';
import { directStore } from '../../fakes/store/direct-store.ts';
import { headOf, OPERATOR, perMinute } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

/** A cent a second. */
const ALPHA: MeterCandidate = { slug: 'alpha/one', own: false, price: perMinute(600_000n) };
const BETA: MeterCandidate = { slug: 'beta/two', own: false, price: perMinute(600_000n) };
const FREE: MeterCandidate = { slug: 'alpha/free', own: false, price: perMinute(0n) };

async function rigWith(usd: string, members: readonly MeterCandidate[]) {
  const rig = directStore();
  const who = rig.customer({ limit: null });
  rig.ledger.changeKey(
    who.organisationId,
    who.keyId,
    { spendCeilings: [{ usd, period: 'day', provider: 'beta' }] },
    OPERATOR,
  );
  const clock = new SimulatedClock();
  const reached: ReachedCeiling[] = [];
  const reservations = new Reservations({
    store: rig.store,
    clock,
    wallNow: () => new Date(rig.clock.nowMs),
    node: 'node',
    settings: { directory: temporaryDirectory(), journalSyncMs: 2_000_000_000, graceMs: 0, historyDays: 0 },
    onFault: (_, error) => expect.unreachable(String(error)),
    onCeiling: (ceiling) => reached.push(ceiling),
  });
  const head = headOf(who, 'ses_1', { model: members[0]!.slug });
  const meter = await reservations.open(head, members);
  const source = { settledLines: () => [], sentLines: () => [], connectionLeftMs: () => Number.POSITIVE_INFINITY };
  meter.attach(
    { ...source, settledMs: () => 0, sentMs: () => 0, receivedMs: () => 0 },
    { extended: () => {}, ranOut: () => {}, low: () => {} },
  );
  return { ...rig, meter, reached, reservations, head };
}

test('lets another provider hear nothing before it is held for', async () => {
  const { meter, reached } = await rigWith('0.05', [ALPHA, BETA]);
  expect(meter.allowedMs).toBe(60_000);
  meter.use(1);
  expect(meter.allowedMs).toBe(0);
  await settle();
  expect(meter.allowedMs).toBe(4_999);
  expect(reached.map(({ provider, percent }) => [provider, percent])).toEqual([['beta', 100]]);
});

test('continues with the first provider while another has nothing left', async () => {
  const { meter } = await rigWith('0', [ALPHA, BETA]);
  meter.use(1);
  await settle();
  expect(meter.allowedMs).toBe(0);
  meter.use(0);
  await settle();
  expect(meter.allowedMs).toBeGreaterThan(59_000);
});

test('asks for nothing more between models of one provider', async () => {
  const { meter } = await rigWith('0.05', [ALPHA, { ...ALPHA, slug: 'alpha/other' }]);
  meter.use(1);
  expect(meter.allowedMs).toBe(60_000);
});

test('holds for the provider of a paid model behind a free one of another', async () => {
  const { meter } = await rigWith('0.05', [FREE]);
  await meter.prepare(BETA);
  meter.add([BETA]);
  meter.use(1);
  expect(meter.allowedMs).toBe(4_999);
  await expect(rigWith('0', [FREE]).then((other) => other.meter.prepare(BETA))).rejects.toMatchObject({
    code: 'spend_ceiling_reached',
  });
});

test('reports the ceiling by which a hold is refused', async () => {
  const { reservations, head, reached } = await rigWith('0', [ALPHA]);
  await expect(reservations.open({ ...head, id: 'ses_2', model: BETA.slug }, [BETA])).rejects.toMatchObject({
    code: 'spend_ceiling_reached',
    message: 'The spend ceiling of this key, 0.00 USD a day at beta, is reached. Try again in the next day (UTC).',
  });
  expect(reached.at(-1)).toMatchObject({ provider: 'beta', percent: 100, organisationId: head.organisationId });
});
