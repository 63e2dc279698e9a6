// Answers that nobody took: free so many times a day for each organisation, and bounded in memory.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { AbandonedResponses } from '../../../src/files/money/abandoned-responses.ts';

const DAY_MS = 86_400_000;

it('cost nothing a limited number of times a day, separately for each organisation', () => {
  const clock = new SimulatedClock();
  const untaken = new AbandonedResponses(clock, 2);
  expect(Array.from({ length: 4 }, () => untaken.isFree('org_1'))).toEqual([true, true, false, false]);
  expect(untaken.isFree('org_2')).toBe(true);
  clock.increment(DAY_MS - 1);
  expect(untaken.isFree('org_1')).toBe(false);
  clock.increment(1);
  expect(Array.from({ length: 3 }, () => untaken.isFree('org_1'))).toEqual([true, true, false]);
});

it('always cost where none is free', () => {
  expect(new AbandonedResponses(new SimulatedClock(), 0).isFree('org_1')).toBe(false);
});

it('count for 10,000 organisations; the oldest starts again', () => {
  const untaken = new AbandonedResponses(new SimulatedClock(), 1);
  for (let index = 0; index < 10_000; index++) untaken.isFree(`org_${index}`);
  expect(untaken.isFree('org_0')).toBe(false);
  untaken.isFree('org_more');
  expect([untaken.isFree('org_1'), untaken.isFree('org_0')]).toEqual([false, true]);
});
