// The promise that the event loop's load is told as a share: none while there is room, all when there is none, and smoothly between.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import { LoopLoad } from '../../src/runtime/process-load.ts';

/** A loop that was active for this part of each half second. */
function loadOf(activeShare: number) {
  const clock = new SimulatedClock();
  let seen = { idle: 0, active: 0, utilization: 0 };
  const load = new LoopLoad(clock as unknown as Clock, () => seen);
  const pass = (looks: number, share = activeShare) => {
    const shares: number[] = [];
    for (let look = 0; look < looks; look++) {
      seen = { idle: seen.idle + 500 * (1 - share), active: seen.active + 500 * share, utilization: 0 };
      clock.increment(500);
      shares.push(load.share);
    }
    return shares;
  };
  return { load, clock, pass };
}

it.each([
  [0, 0],
  [0.2, 0],
  [0.3, 0.5],
  [0.4, 1],
  [1, 1],
])('rates a loop active for %d of its time as busy at %d', (activeShare, share) => {
  expect(loadOf(activeShare).pass(40).at(-1)).toBeCloseTo(share, 3);
});

it('smooths one busy moment, and forgets it', () => {
  const { pass } = loadOf(0.1);
  const [peak = 0] = pass(1, 1);
  expect(peak).toBeLessThanOrEqual(0.25);
  expect(pass(20).at(-1)).toBeLessThan(0.01);
});

it('leaves no timer behind', () => {
  const { load, clock } = loadOf(0.5);
  load.close();
  expect((Reflect.get(clock, 'timeouts') as Map<unknown, unknown>).size).toBe(0);
});
