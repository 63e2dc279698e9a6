// A replica hands the accounts over to another one by name, or leaves the log and keeps them alone.
import { expect, test } from 'vitest';
import { NO_POSITION } from '../../../src/store/replica-position.ts';
import { add } from './model-store.ts';
import { Rig } from './replica-rig.ts';

test('a release for another replica is not claimed before that one had its time', async () => {
  const rig = new Rig();
  const { first, second } = await rig.pair();
  const third = rig.replica({ claimDelayMs: 0 });
  await third.replica.start();
  await rig.run(500);
  const answered = first.replica.propose([add(2, 'a', 5)]);
  const released = first.replica.release('accounts-9');
  await rig.run(2_500);
  await released;
  expect(await answered).toEqual(['booked']);
  expect([second.replica.role, third.replica.role]).toEqual(['following', 'following']);
  await rig.run(1_500);
  expect([second.replica.role, third.replica.role].filter((role) => role === 'owning')).toHaveLength(1);
});

test('a release for this replica is claimed without its delay', async () => {
  const rig = new Rig();
  const { first, second } = await rig.pair();
  const released = first.replica.release('accounts-0');
  await rig.run(400);
  await released;
  expect(second.replica.role).toBe('owning');
});

test('an owner that leaves answers what was waiting, and its database contains no position any more', async () => {
  const rig = new Rig();
  const { first, second } = await rig.pair();
  const answered = first.replica.propose([add(2, 'a', 5)]);
  const left = first.replica.leave();
  await rig.run(300);
  await left;
  expect(await answered).toEqual(['booked']);
  expect([first.replica.role, first.ends]).toEqual(['ended', []]);
  expect(await first.store.position()).toEqual(NO_POSITION);
  expect(first.store.booked).toEqual([1, 2]);
  expect(second.ends).toEqual(['left']);
  await rig.run(10_000);
  expect(second.replica.role).toBe('ended');
  await expect(first.replica.propose([add(3, 'a', 5)])).rejects.toMatchObject({
    reason: 'unreachable',
    isUnsent: true,
  });
});

test('leaving rejects for a replica that was deposed before', async () => {
  const rig = new Rig();
  const { first } = await rig.pair();
  first.log.isCut = true;
  await rig.run(5_000);
  const left = first.replica.leave().catch((error: unknown) => error);
  first.log.isCut = false;
  await rig.run(5_000);
  expect(await left).toMatchObject({ reason: 'unreachable' });
  expect(first.ends).toEqual(['deposed']);
});

test('the first replica of a log claims it without waiting', async () => {
  const rig = new Rig();
  const { replica } = rig.replica({ isFirst: true, claimDelayMs: 600 });
  await replica.start();
  await rig.run(400);
  expect(replica.role).toBe('owning');
});
