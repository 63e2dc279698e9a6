// Whether a process has room for more: a loop that runs late, memory near its end, and neither for long once it is over.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { CHECK_MS, memoryShare, OverloadMonitor } from '../../src/runtime/process-load.ts';
import { timersOf } from '../live/session/support.ts';

function overloaded(lagMsMax = 200) {
  const clock = new SimulatedClock();
  let offsetMs = 0;
  const state = { share: 0.5, critical: 0 };
  const overload = new OverloadMonitor({
    clock: {
      now: () => clock.now() + offsetMs,
      setTimeout: (callback, delayMs) => clock.setTimeout(callback, delayMs),
      clearTimeout: (handle) => clock.clearTimeout(handle as never),
    },
    lagMsMax,
    memoryShare: () => state.share,
    onCritical: () => state.critical++,
  });
  return {
    clock,
    overload,
    state,
    /** The loop stands still: time goes by and no timer fires. */
    block: (ms: number) => {
      offsetMs += ms;
      clock.increment(CHECK_MS);
    },
    beats: (count: number) => {
      for (let beat = 0; beat < count; beat++) clock.increment(CHECK_MS);
    },
  };
}

it('reports a lack of time after a standstill of 3 s, for half a second', () => {
  const { overload, block, beats } = overloaded();
  block(3_000);
  expect(overload.shortOf).toBe('time');
  beats(3);
  expect(overload.shortOf).toBe('time');
  beats(2);
  expect([overload.shortOf, overload.lagMs < 200]).toEqual([undefined, true]);
});

it.each([
  ['one stall of half a second', [500], undefined],
  ['stalls of 150 ms without end', Array(50).fill(150), undefined],
  ['stalls of 300 ms without end', Array(50).fill(300), 'time'],
  ['a night asleep, as five seconds', [8 * 3_600_000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], undefined],
])('%s', (_, stalls, wanted) => {
  const { overload, block } = overloaded();
  for (const ms of stalls as number[]) block(ms);
  expect(overload.shortOf).toBe(wanted);
});

it('lacks memory from 90 %, requests room from 95 % once a second, and recovers', () => {
  const { overload, state, beats } = overloaded();
  const at = (share: number) => {
    state.share = share;
    beats(10);
    return [overload.shortOf, state.critical];
  };
  expect([0.89, 0.9, 0.94, 0.95, 0.99, 0.5].map(at)).toEqual([
    [undefined, 0],
    ['memory', 0],
    ['memory', 0],
    ['memory', 1],
    ['memory', 2],
    [undefined, 2],
  ]);
});

it('leaves no timer when it is closed', () => {
  const { clock, overload, beats } = overloaded();
  beats(3);
  overload.close();
  beats(3);
  expect(timersOf(clock)).toBe(0);
});

it('measures this process’s share of the memory between 0 and 1', () => {
  const before = memoryShare();
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(1);
  const held = Array.from({ length: 2_000_000 }, (_, index) => ({ index }));
  expect(memoryShare()).toBeGreaterThan(before);
  expect(held.length).toBe(2_000_000);
});
