// A ceiling that leaves cheap models: a session or file begins with the models of its chain that are left.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { FileReservations } from '../../../src/files/money/file-reservations.ts';
import type { MeterCandidate } from '../../../src/money/ledger/meter.ts';
import { chainWithin, membersWithin } from '../../../src/money/ledger/price-bounds.ts';
import { Reservations } from '../../../src/money/ledger/reservations.ts';
import { directStore } from '../../fakes/store/direct-store.ts';
import { headOf, OPERATOR, perMinute } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const DEAR: MeterCandidate = { slug: 'alpha/dear', own: false, price: perMinute(600_000n) };
const CHEAP: MeterCandidate = { slug: 'beta/cheap', own: false, price: perMinute(6_000n) };
const FREE: MeterCandidate = { slug: 'local/free', own: false, price: perMinute(0n) };
const SESSION: MeterCandidate = {
  slug: 'beta/session',
  own: false,
  price: { unit: 'session', microUsd: 1n, minimumMicroUsd: 0n },
};
const OWN: MeterCandidate = { slug: 'alpha/dear', own: true, price: perMinute(0n) };
const COUNTED: MeterCandidate = { slug: 'alpha/dear', own: true, counted: true, price: perMinute(600_000n) };
const BOUND = [{ provider: '', microUsd: 6_000n }];

function rigWith(usd: string, onlyUpTo: string, provider?: string) {
  const rig = directStore();
  const who = rig.customer({ limit: null });
  const ceiling = { usd, period: 'day', only_up_to: onlyUpTo, ...(provider && { provider }) } as const;
  rig.ledger.changeKey(who.organisationId, who.keyId, { spendCeilings: [ceiling] }, OPERATOR);
  const clock = new SimulatedClock();
  const wallNow = () => new Date(rig.clock.nowMs);
  const reservations = new Reservations({
    store: rig.store,
    clock,
    wallNow,
    node: 'node',
    settings: { directory: temporaryDirectory(), journalSyncMs: 2_000_000_000, graceMs: 0, historyDays: 0 },
    onFault: (_, error) => expect.unreachable(String(error)),
  });
  const open = (members: readonly MeterCandidate[]) =>
    reservations.open(headOf(who, 'ses_1', { model: members[0]!.slug }), members);
  return { ...rig, who, reservations, open, files: new FileReservations({ reservations, clock, wallNow }) };
}

const slugs = (members: readonly MeterCandidate[]) => members.map(({ slug }) => slug);

test('a session continues with the models that a reached ceiling leaves', async () => {
  const meter = await rigWith('0', '0.006').open([DEAR, CHEAP, SESSION, FREE]);
  expect(slugs(meter.members)).toEqual(['beta/cheap', 'local/free']);
  expect(meter.bounds).toContainEqual({ provider: '', microUsd: 6_000n });
  expect(meter.allowedMs).toBe(60_000);
});

test('a session that begins with a cheap model has no dear fallback once the ceiling is reached', async () => {
  const meter = await rigWith('0', '0.006').open([CHEAP, DEAR]);
  expect(slugs(meter.members)).toEqual(['beta/cheap']);
});

test('a session keeps its whole chain while the ceiling has room', async () => {
  const meter = await rigWith('10', '0.006').open([DEAR, CHEAP]);
  expect(slugs(meter.members)).toEqual(['alpha/dear', 'beta/cheap']);
  expect(meter.bounds).toBeUndefined();
});

test('only free models are left by a price of 0', async () => {
  const meter = await rigWith('0', '0').open([DEAR, CHEAP, FREE]);
  expect(slugs(meter.members)).toEqual(['local/free']);
});

test('a session is refused where no model is left, and the message names the price', async () => {
  await expect(rigWith('0', '0.005').open([DEAR, CHEAP])).rejects.toMatchObject({
    code: 'spend_ceiling_reached',
    message:
      'The spend ceiling of this key, 0.00 USD a day, is reached. Models up to 0.005 USD a minute may still be used. Try again in the next day (UTC).',
  });
});

test('a ceiling of a provider leaves out its models alone', async () => {
  const meter = await rigWith('0', '0.006', 'alpha').open([DEAR, { ...DEAR, slug: 'gamma/dear' }]);
  expect(slugs(meter.members)).toEqual(['gamma/dear']);
});

test('a file is held for on the models that are left', async () => {
  const { files, who, ledger } = rigWith('0.01', '0.006');
  const members = [DEAR, CHEAP, FREE].map((member) => ({ ...member, channels: 1 }));
  const reserved = await files.reserve({ id: 'req_1', ...who, model: DEAR.slug, members, secondsMax: 10 });
  expect(reserved.bounds).toEqual(BOUND);
  expect(ledger.balanceOf(who.organisationId)).toMatchObject({ heldMicroUsd: 1_001n });
  await expect(
    files.reserve({ id: 'req_2', ...who, model: DEAR.slug, members: members.slice(0, 1), secondsMax: 10 }),
  ).rejects.toMatchObject({ code: 'spend_ceiling_reached' });
});

test('own keys are as dear as they count for, and free where they do not count', () => {
  expect(slugs(membersWithin([COUNTED, CHEAP], BOUND))).toEqual(['beta/cheap']);
  expect(membersWithin([OWN], BOUND)).toEqual([OWN]);
});

test('each model that is left out has a warning', () => {
  expect(chainWithin([{ slug: 'alpha/dear' }, { slug: 'beta/cheap' }], [DEAR, CHEAP], BOUND)).toEqual({
    chain: [{ slug: 'beta/cheap' }],
    warnings: [
      {
        code: 'model_left_out',
        message:
          'alpha/dear is left out: a spend ceiling is reached, so only models up to 0.006 USD a minute may be used.',
        param: 'fallbacks',
      },
    ],
  });
});

/** A meter whose session has sent, and has finals for, so many seconds of its first member. */
async function shortMeter(rig: ReturnType<typeof rigWith>, members: readonly MeterCandidate[], seconds: number) {
  const meter = await rig.open(members);
  const lines = () =>
    seconds === 0 ? [] : [{ model: members[0]!.slug, own: false, audioMs: seconds * 1000, price: members[0]!.price }];
  const ms = () => seconds * 1000;
  const low: string[] = [];
  meter.attach(
    {
      ...{ settledLines: lines, sentLines: lines, settledMs: ms, sentMs: ms, receivedMs: ms },
      connectionLeftMs: () => Number.POSITIVE_INFINITY,
    },
    { extended: () => {}, ranOut: () => {}, low: (shortage) => low.push(shortage) },
  );
  return { meter, low };
}

test('a meter knows which members a ceiling leaves once less is granted than wanted, and holds for one of them alone', async () => {
  const rig = rigWith('0.1', '0.006');
  const { meter, low } = await shortMeter(rig, [DEAR, { ...DEAR, slug: 'gamma/dear' }, CHEAP, FREE], 2);
  expect([low, meter.isCeilingNear, meter.state]).toEqual([['ceiling'], true, 'short']);
  expect([0, 1, 2, 3, 4].map((index) => meter.leaves(index))).toEqual([false, false, true, true, false]);
  meter.use(2);
  expect(meter.isCeilingNear).toBe(false);
  await new Promise((resolve) => setImmediate(resolve));
  expect([meter.state, meter.allowedMs, meter.heldMicroUsd]).toEqual(['held', 62_000, 6_001n]);
  expect(low).toEqual(['ceiling']);
});

test('the reached ceiling of a provider does not bound what is held for another one', async () => {
  const rig = rigWith('0.1', '0.006', 'alpha');
  const { meter } = await shortMeter(rig, [DEAR, { ...DEAR, slug: 'gamma/dear' }], 10);
  expect([meter.leaves(0), meter.leaves(1)]).toEqual([false, true]);
  meter.use(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect([meter.state, meter.heldMicroUsd]).toEqual(['held', 600_001n]);
});

test('a ceiling without a price bound leaves no member, also below one that has one', async () => {
  const rig = rigWith('1000', '0.006');
  rig.ledger.changeKey(
    rig.who.organisationId,
    rig.who.keyId,
    {
      spendCeilings: [
        { usd: '0.1', period: 'day' },
        { usd: '0.2', period: 'month', only_up_to: '0.006' },
      ],
    },
    OPERATOR,
  );
  const { meter } = await shortMeter(rig, [DEAR, CHEAP], 2);
  expect([meter.leaves(1), meter.isCeilingNear, meter.state]).toEqual([false, false, 'short']);
});

test('what is held for a model that a ceiling leaves pays for no dearer one', async () => {
  const dear = { ...DEAR, slug: 'beta/dear' };
  const { meter } = await shortMeter(rigWith('0.001', '0.006'), [CHEAP, dear, { ...CHEAP, slug: 'beta/other' }], 0);
  expect([meter.allowedMs, meter.heldMicroUsd]).toEqual([60_000, 6_001n]);
  meter.use(2);
  expect(meter.allowedMs).toBe(60_000);
  meter.use(1);
  expect(meter.allowedMs).toBe(0);
  await new Promise((resolve) => setImmediate(resolve));
  expect([meter.state, meter.isCeilingNear]).toEqual(['short', true]);
  for (let round = 0; round < 3; round++) {
    meter.use(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect([meter.state, meter.allowedMs]).toEqual(['held', 60_000]);
    meter.use(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(meter.allowedMs).toBeLessThanOrEqual(100);
  }
});
