import { expect, test } from 'vitest';
import { FairQueue, Quota } from '../../src/runtime/limits/quota.ts';

const waiter = (organisationId: string, granted: string[]) => ({
  organisationId,
  granted: () => void granted.push(organisationId),
});

test('gives the next place to the organisation that has fewest', () => {
  const queue = new FairQueue(new Quota(4));
  const granted: string[] = [];
  const greedy = Array.from({ length: 4 }, () => waiter('greedy', granted));
  expect(greedy.map((each) => queue.enter(each))).toEqual([true, true, false, false]);
  const others = [waiter('b', granted), waiter('c', granted), waiter('d', granted)];
  expect(others.map((each) => queue.enter(each))).toEqual([true, true, false]);
  queue.leave(greedy[0]!);
  expect([granted, queue.waiting]).toEqual([['d'], 2]);
  for (const each of others) queue.leave(each);
  expect([granted, queue.waiting]).toEqual([['d', 'greedy'], 1]);
  queue.leave(greedy[1]!);
  queue.leave(greedy[2]!);
  expect([granted, queue.waiting]).toEqual([['d', 'greedy', 'greedy'], 0]);
});

test('grants one organisation’s slots in the order of its requests', () => {
  const queue = new FairQueue(new Quota(1, 1));
  const granted: number[] = [];
  const waiters = [0, 1, 2, 3].map((index) => ({ organisationId: 'a', granted: () => void granted.push(index) }));
  expect(waiters.map((each) => queue.enter(each))).toEqual([true, false, false, false]);
  for (const each of waiters) queue.leave(each);
  expect([granted, queue.isIdle]).toEqual([[1, 2, 3], true]);
});

test('gives no place to a waiter that has left', () => {
  const queue = new FairQueue(new Quota(1));
  const granted: string[] = [];
  const [first, second, third] = ['a', 'b', 'c'].map((name) => waiter(name, granted)) as [
    ReturnType<typeof waiter>,
    ReturnType<typeof waiter>,
    ReturnType<typeof waiter>,
  ];
  expect([queue.enter(first), queue.enter(second), queue.enter(third)]).toEqual([true, false, false]);
  queue.leave(second);
  queue.leave(first);
  expect(granted).toEqual(['c']);
  queue.leave(third);
  expect(queue.enter(first)).toBe(true);
});
