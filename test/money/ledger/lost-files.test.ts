// When files are given up that hold nothing: at the start and every minute, as long after their hold as a node may come back.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { LostFiles } from '../../../src/money/ledger/lost-work.ts';
import { settle } from '../../fakes/session-rig.ts';

const NOW_MS = 1_000_000_000;

function world(graceMs: number, counts: number[]) {
  const clock = new SimulatedClock();
  const calls: [untilMs: number, among: number][] = [];
  const closed: number[] = [];
  const faults: unknown[] = [];
  const lost = new LostFiles({
    store: {
      closeLostFiles: async (untilMs, among) => {
        calls.push([untilMs - NOW_MS - clock.now(), among]);
        const count = counts.shift() ?? 0;
        if (count < 0) throw new Error('busy');
        return count;
      },
    },
    clock,
    wallNowMs: () => NOW_MS + clock.now(),
    graceMs,
    onClosed: (files) => closed.push(files),
    onFault: (error) => faults.push(error),
  });
  const pass = async (ms: number) => {
    clock.increment(ms);
    await settle();
  };
  return { lost, calls, closed, faults, pass };
}

test.each([
  [0, -120_000],
  [600_000, -600_000],
])('files are closed so long after their hold ended, with a grace of %d ms', async (graceMs, sinceMs) => {
  const { lost, calls, closed, pass } = world(graceMs, [1_000, 3, 2]);
  await pass(0);
  expect(calls).toEqual([
    [sinceMs, 200_000],
    [sinceMs, 200_000],
  ]);
  await pass(60_000);
  expect([calls.at(-1), closed]).toEqual([
    [sinceMs, 10_000],
    [1_003, 2],
  ]);
  lost.close();
  await pass(600_000);
  expect(calls).toHaveLength(3);
});

test('asks an unresponsive ledger again for all files', async () => {
  const { lost, calls, faults, closed, pass } = world(0, [-1, 4]);
  await pass(0);
  expect([faults.length, closed]).toEqual([1, []]);
  await pass(60_000);
  expect([calls.map(([, among]) => among), closed]).toEqual([[200_000, 200_000], [4]]);
  lost.close();
});
