// Whether a process has room for more: a loop that runs late, memory near its end, and neither for long once it is over.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { memoryShare } from '../../src/runtime/memory-share.ts';
import { BEAT_MS, Strain } from '../../src/runtime/strain.ts';
import { timersOf } from '../session/support.ts';

function strained(lagMsMax = 200) {
  const clock = new SimulatedClock();
  let offsetMs = 0;
  const state = { share: 0.5, critical: 0 };
  const strain = new Strain({
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
    strain,
    state,
    /** The loop stands still: time goes by and no timer fires. */
    block: (ms: number) => {
      offsetMs += ms;
      clock.increment(BEAT_MS);
    },
    beats: (count: number) => {
      for (let beat = 0; beat < count; beat++) clock.increment(BEAT_MS);
    },
  };
}

it('is short of time after a standstill of 3 s, and no more half a second later', () => {
  const { strain, block, beats } = strained();
  block(3_000);
  expect(strain.shortOf).toBe('time');
  beats(3);
  expect(strain.shortOf).toBe('time');
  beats(2);
  expect([strain.shortOf, strain.lagMs < 200]).toEqual([undefined, true]);
});

it.each([
  ['one stall of half a second', [500], undefined],
  ['stalls of 150 ms without end', Array(50).fill(150), undefined],
  ['stalls of 300 ms without end', Array(50).fill(300), 'time'],
  ['a night asleep, as five seconds', [8 * 3_600_000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], undefined],
])('%s', (_, stalls, wanted) => {
  const { strain, block } = strained();
  for (const ms of stalls as number[]) block(ms);
  expect(strain.shortOf).toBe(wanted);
});

it('is short of memory from 90 % on, asks for room from 95 % on once a second, and recovers', () => {
  const { strain, state, beats } = strained();
  const at = (share: number) => {
    state.share = share;
    beats(10);
    return [strain.shortOf, state.critical];
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
  const { clock, strain, beats } = strained();
  beats(3);
  strain.close();
  beats(3);
  expect(timersOf(clock)).toBe(0);
});

it('the share of the memory that this process uses is a share', () => {
  const before = memoryShare();
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(1);
  const held = Array.from({ length: 2_000_000 }, (_, index) => ({ index }));
  expect(memoryShare()).toBeGreaterThan(before);
  expect(held.length).toBe(2_000_000);
});
