// What a replica does when its database, its log or another replica is not as it should be.
import { describe, expect, test } from 'vitest';
import { hashOfEntry } from '../../../src/cluster/bus/replicated-log.ts';
import { LogClock } from '../../../src/cluster/replication/log-clock.ts';
import type { ReplicaEnd } from '../../../src/cluster/replication/replica.ts';
import { StoreError, type StoreErrorReason } from '../../../src/store/store-error.ts';
import { add, entryOf } from './model-store.ts';
import { Rig } from './replica-rig.ts';

describe('a database that cannot take an entry', () => {
  test.each<[StoreErrorReason, ReplicaEnd]>([
    ['failed', 'disk'],
    ['busy', 'locked'],
    ['conflict', 'changed'],
    ['invalid', 'version'],
  ])('ends a standby whose store says %s as %s, and the owner continues', async (reason, end) => {
    const rig = new Rig();
    const { first, second } = await rig.pair();
    second.store.fault = new StoreError(reason, 'why');
    const answered = first.replica.propose([add(2, 'a', 1)]);
    await rig.run(5_000);
    expect(await answered).toEqual(['booked']);
    expect({ ends: second.ends, booked: second.store.booked }).toEqual({ ends: [end], booked: [1] });
    expect(first.replica.role).toBe('owning');
  });

  test('ends an owner with a full disk, and another replica answers within five seconds with every answered call', async () => {
    const rig = new Rig();
    const { first, second } = await rig.pair();
    first.store.fault = new StoreError('failed', 'full');
    const lost = first.replica.propose([add(2, 'a', 1)]).catch((error: unknown) => error);
    await rig.run(100);
    expect(first.ends).toEqual(['disk']);
    // The log has it: it may be applied, and its caller is not told otherwise.
    expect(await lost).toMatchObject({ reason: 'unreachable', isUnsent: false });
    await rig.run(4_900);
    expect({ role: second.replica.role, booked: second.store.booked }).toEqual({ role: 'owning', booked: [1, 2] });
  });

  test('is tried again while another process has it locked for a moment', async () => {
    const rig = new Rig();
    const { first, second } = await rig.pair();
    let tries = 0;
    const { apply } = second.store;
    second.store.apply = function (...args) {
      tries++;
      if (tries < 3) return Promise.reject(new StoreError('busy', 'locked'));
      return apply.apply(this, args);
    };
    const answered = first.replica.propose([add(2, 'a', 1)]);
    await rig.run(1_000);
    expect(await answered).toEqual(['booked']);
    expect({ ends: second.ends, booked: second.store.booked }).toEqual({ ends: [], booked: [1, 2] });
  });
});

describe('a log that was created again', () => {
  test('gets the last entries from its owner, and a standby follows it there', async () => {
    const rig = new Rig();
    const { first, second } = await rig.pair();
    await rig.run(20_000);
    rig.server.wipe();
    const answered = first.replica.propose([add(2, 'a', 1)]);
    await rig.run(2_000);
    expect(await answered).toEqual(['booked']);
    expect({ booked: second.store.booked, ends: second.ends }).toEqual({ booked: [1, 2], ends: [] });
    expect(second.replica.position.sequence).toBe(rig.server.lastSequence);
  });

  test('is claimed with every answered call when its owner goes before a standby has seen it', async () => {
    const rig = new Rig();
    const { first, second } = await rig.pair();
    await rig.run(20_000);
    second.log.isCut = true;
    rig.server.wipe();
    const answered = first.replica.propose([add(2, 'a', 1), add(3, 'a', 1)]);
    await rig.run(2_500);
    expect(await answered).toEqual(['booked', 'booked']);
    first.log.isCut = true;
    second.log.isCut = false;
    await rig.run(8_000);
    expect({ role: second.replica.role, booked: second.store.booked }).toEqual({ role: 'owning', booked: [1, 2, 3] });
  });

  test('is not written to by a former owner that comes back', async () => {
    const rig = new Rig();
    const { first, second } = await rig.pair();
    first.log.isCut = true;
    await rig.run(6_000);
    expect(second.replica.role).toBe('owning');
    second.log.isCut = true;
    rig.server.wipe();
    first.log.isCut = false;
    await rig.run(3_000);
    expect({ ends: first.ends, messages: rig.server.messages.length }).toEqual({ ends: ['deposed'], messages: 0 });
  });
});

describe('a log that accepts nothing', () => {
  test('is reported once, its calls are refused, and it is used again when it has space', async () => {
    const rig = new Rig();
    const { replica, stuck } = rig.replica();
    await replica.start();
    await rig.run(3_500);
    rig.server.isFull = true;
    const late = replica.propose([add(1, 'a', 1)]).catch((error: unknown) => error);
    await rig.run(4_000);
    await expect(replica.propose([add(2, 'a', 1)])).rejects.toMatchObject({ reason: 'unreachable', isUnsent: true });
    expect(stuck.map(String)).toEqual([expect.stringContaining('insufficient resources')]);
    rig.server.isFull = false;
    await rig.run(1_000);
    // It was under way all the time.
    expect(await late).toEqual(['booked']);
    const answered = replica.propose([add(3, 'a', 1)]);
    await rig.run(100);
    expect(await answered).toEqual(['booked']);
  });

  test('does not keep a node that stops for longer than five seconds', async () => {
    const rig = new Rig();
    const { replica, log } = rig.replica();
    await replica.start();
    await rig.run(3_500);
    log.isCut = true;
    void replica.propose([add(1, 'a', 1)]).catch(() => {});
    await rig.run(100);
    let isReleased = false;
    void replica.release().then(() => {
      isReleased = true;
    });
    await rig.run(5_100);
    expect(isReleased).toBe(true);
  });
});

test('of two replicas that claim at the same moment, one owns the log and the other follows it', async () => {
  const rig = new Rig();
  const { first } = await rig.pair();
  const both = ['accounts-2', 'accounts-3'].map((node) => rig.replica({ node }));
  for (const { replica, store } of both) {
    store.copyFrom(first.store);
    await replica.start();
  }
  first.log.isCut = true;
  await rig.run(3_600);
  expect(both.map(({ replica }) => replica.role).toSorted()).toEqual(['following', 'owning']);
  const owner = both.find(({ replica }) => replica.role === 'owning') as (typeof both)[number];
  const answered = owner.replica.propose([add(2, 'a', 1)]);
  await rig.run(500);
  expect(await answered).toEqual(['booked']);
  expect(both.map(({ store }) => store.booked)).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test('a changed or truncated entry is not applied: the standby begins again with a copy at the next one', async () => {
  const rig = new Rig();
  const { replica, store, ends } = rig.replica();
  await replica.start();
  const first = await rig.write(entryOf(1, [add(1, 'a', 5)]), undefined);
  // What cannot be opened has no bytes.
  rig.server.append(new Uint8Array(0), 'changed', { sequence: 1, id: undefined });
  await rig.write({ ...entryOf(3), previous: hashOfEntry(first) }, undefined);
  await rig.run(100);
  expect({ ends, booked: store.booked }).toEqual({ ends: ['behind'], booked: [1] });
});

describe('the time of the entries', () => {
  const APART_MS = 90_000;
  const clockAt = (wallMs: number) => {
    const time = { ms: 0 };
    return { time, clock: new LogClock({ now: () => time.ms }, () => wallMs + time.ms) };
  };

  test.each([-APART_MS, APART_MS])(
    'continues at an owner whose clock is %i ms apart, and comes to it little by little',
    (apartMs) => {
      const { time, clock } = clockAt(1_000_000 + apartMs);
      clock.saw(1_000_000);
      expect(clock.nowMs()).toBe(1_000_000);
      for (let second = 1; second <= 100; second++) {
        const before = clock.nowMs();
        time.ms += 1_000;
        const passedMs = clock.nowMs() - before;
        expect(passedMs).toBeGreaterThanOrEqual(898);
        expect(passedMs).toBeLessThanOrEqual(1_102);
        clock.saw(clock.nowMs());
      }
      time.ms += 1_000_000;
      expect(clock.nowMs()).toBe(1_000_000 + apartMs + time.ms);
    },
  );

  test('follows a clock that was set by an hour, and never goes back', () => {
    const { clock } = clockAt(3_600_000);
    clock.saw(0);
    expect(clock.nowMs()).toBe(3_600_000);
    clock.saw(7_200_000);
    expect(clock.nowMs()).toBe(7_200_000);
  });

  test('continues after a start with the clock, or where that is earlier with the last entry', () => {
    const { clock } = clockAt(1_000_000);
    clock.resume(900_000);
    expect(clock.nowMs()).toBe(1_000_000);
    clock.resume(1_050_000);
    expect(clock.nowMs()).toBe(1_050_000);
  });
});
