// When sessions of a node that is gone are given up: after its time to come back, never of one that is there, and also where the
// ledger could not be asked at first.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { LostSessions } from '../../../src/money/ledger/lost-work.ts';
import { settle } from '../../fakes/session-rig.ts';

const GRACE_MS = 600_000;

function world(counts: Record<string, number> = {}, graceMs = GRACE_MS) {
  const clock = new SimulatedClock();
  const there = new Set<string>();
  const closed: [string, string, number][] = [];
  const told: [string, number][] = [];
  const faults: unknown[] = [];
  const failing = { count: 0 };
  const store = {
    openNodes: async () => {
      if (failing.count-- > 0) throw new Error('busy');
      return Object.keys(counts);
    },
    closeLost: async (node: string, endedAt: string) => {
      if (failing.count-- > 0) throw new Error('busy');
      const count = Math.min(1_000, counts[node] ?? 0);
      counts[node] = (counts[node] ?? 0) - count;
      closed.push([node, endedAt, count]);
      return count;
    },
  };
  const lost = new LostSessions({
    store,
    clock,
    wallNow: () => new Date(clock.now()),
    graceMs,
    isThere: (node) => there.has(node),
    onClosed: (node, sessions) => told.push([node, sessions]),
    onFault: (error) => faults.push(error),
  });
  const pass = async (ms: number) => {
    clock.increment(ms);
    await settle();
  };
  return { clock, there, closed, told, faults, failing, lost, pass };
}

test('sessions of a node are closed when it had its time to come back, as of when it went', async () => {
  const { lost, told, closed, pass } = world({ aaaaaa: 2_500 });
  await pass(5_000);
  lost.gone('aaaaaa');
  lost.gone('aaaaaa');
  await pass(GRACE_MS - 1);
  expect(closed).toEqual([]);
  await pass(1);
  expect(told).toEqual([['aaaaaa', 2_500]]);
  expect(closed.map(([, at, count]) => [at, count])).toEqual(
    [1_000, 1_000, 500].map((count) => ['1970-01-01T00:00:05.000Z', count]),
  );
  expect(lost.size).toBe(0);
});

test('keeps the sessions of a node that returned, and closes them when it leaves again', async () => {
  const { lost, there, told, pass } = world({ aaaaaa: 1 });
  lost.gone('aaaaaa');
  there.add('aaaaaa');
  await pass(GRACE_MS);
  expect(told).toEqual([]);
  there.delete('aaaaaa');
  lost.gone('aaaaaa');
  await pass(GRACE_MS);
  expect(told).toEqual([['aaaaaa', 1]]);
});

test('finds nodes that left unnoticed, and no node that is present', async () => {
  const { lost, there, told, pass } = world({ aaaaaa: 1, bbbbbb: 1 });
  there.add('bbbbbb');
  await lost.look();
  await pass(GRACE_MS);
  expect(told).toEqual([['aaaaaa', 1]]);
});

test('waits for every hold of a node to expire, with any grace period', async () => {
  const { lost, told, pass } = world({ aaaaaa: 1 }, 0);
  lost.gone('aaaaaa');
  await pass(119_999);
  expect(told).toEqual([]);
  await pass(1);
  expect(told).toHaveLength(1);
});

test('retries a ledger that is unavailable', async () => {
  const { lost, told, faults, failing, pass } = world({ aaaaaa: 1 });
  failing.count = 2;
  await lost.look();
  await pass(10_000);
  await pass(10_000);
  failing.count = 2;
  await pass(GRACE_MS);
  await pass(10_000);
  expect(told).toEqual([]);
  await pass(10_000);
  expect([told, faults.length]).toEqual([[['aaaaaa', 1]], 4]);
});

test('waits for a thousand nodes at most, and for none when it is closed', async () => {
  const { lost, told, pass } = world({ n00000: 1 });
  for (let index = 0; index < 1_001; index++) lost.gone(`n${String(index).padStart(5, '0')}`);
  expect(lost.size).toBe(1_000);
  lost.close();
  await pass(GRACE_MS);
  lost.gone('n00000');
  await pass(GRACE_MS);
  expect([lost.size, told]).toEqual([0, []]);
});
