// The timer for moments that stand in the database: rings when one has come, and not more often than it must.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAlarm } from '../../src/store/alarm.ts';

beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => vi.useRealTimers());

/** An alarm on a list of moments; a ring takes those away that have come. */
function begin(...moments: number[]) {
  const rings: number[] = [];
  const state = { moments, failing: false };
  const alarm = createAlarm({
    next: () => {
      if (state.failing) throw new Error('cannot be read');
      return state.moments.length === 0 ? undefined : Math.min(...state.moments);
    },
    ring: () => {
      rings.push(Date.now() - 1_000_000);
      if (state.failing) throw new Error('cannot be written');
      state.moments = state.moments.filter((moment) => moment > Date.now());
    },
  });
  alarm.look();
  return { alarm, rings, state };
}

describe('the alarm', () => {
  test('runs a timer only while there is a due time', () => {
    const { alarm, state } = begin();
    expect(vi.getTimerCount()).toBe(0);
    state.moments = [1_005_000, 1_009_000];
    alarm.look();
    alarm.look();
    expect(vi.getTimerCount()).toBe(1);
    state.moments = [];
    alarm.look();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('rings within two milliseconds of each moment, and then no more', () => {
    const { rings } = begin(1_005_000, 1_009_000);
    vi.advanceTimersByTime(60_000);
    expect(rings).toEqual([5001, 9001]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('rings at once for a moment that has passed', () => {
    const { rings } = begin(5);
    vi.advanceTimersByTime(1);
    expect(rings).toEqual([1]);
  });

  test('catches up with a moment that has passed before it returns, and waits for the next', () => {
    const { alarm, rings, state } = begin();
    state.moments = [5, 999_999, 1_004_000];
    alarm.catchUp();
    expect(rings).toEqual([0]);
    vi.advanceTimersByTime(60_000);
    expect(rings).toEqual([0, 4001]);
    alarm.catchUp();
    expect([rings.length, vi.getTimerCount()]).toEqual([2, 0]);
  });

  test('catches up later where it fails, and not at all once it was stopped', () => {
    const { alarm, rings, state } = begin(5);
    state.failing = true;
    alarm.catchUp();
    expect(rings).toEqual([0]);
    state.failing = false;
    vi.advanceTimersByTime(60_000);
    expect(rings).toEqual([0, 1001]);
    state.moments = [5];
    alarm.stop();
    alarm.catchUp();
    expect(rings).toEqual([0, 1001]);
  });

  test('follows an earlier time, and one that was postponed', () => {
    const { alarm, rings, state } = begin(1_005_000);
    state.moments = [1_002_000];
    alarm.look();
    vi.advanceTimersByTime(2001);
    state.moments = [1_008_000];
    alarm.look();
    vi.advanceTimersByTime(60_000);
    expect(rings).toEqual([2001, 8001]);
  });

  test('rings ten times a second at most, for any times', () => {
    const { rings } = begin(...Array.from({ length: 1000 }, (_, index) => 1_000_000 + index));
    vi.advanceTimersByTime(5000);
    expect(rings.length).toBeLessThanOrEqual(11);
    expect(rings.at(-1)).toBeGreaterThan(999);
  });

  test('retries once a second after a failure, and recovers automatically', () => {
    const { alarm, rings, state } = begin(1_000_500);
    state.failing = true;
    for (let ms = 0; ms < 5000; ms += 10) {
      vi.advanceTimersByTime(10);
      alarm.look();
    }
    expect(rings.length).toBeLessThanOrEqual(6);
    expect(rings.length).toBeGreaterThan(2);
    state.failing = false;
    vi.advanceTimersByTime(2100);
    expect(state.moments).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('waits for a moment that is further than a timer reaches', () => {
    const day = 86_400_000;
    const { rings } = begin(1_000_000 + 40 * day);
    vi.advanceTimersByTime(39 * day);
    const before = rings.length;
    vi.advanceTimersByTime(2 * day);
    expect(before).toBeLessThanOrEqual(1);
    expect(rings.at(-1)).toBeGreaterThanOrEqual(40 * day);
  });

  test('never rings again after it was stopped', () => {
    const { alarm, rings } = begin(1_005_000);
    alarm.stop();
    alarm.look();
    vi.advanceTimersByTime(60_000);
    expect(rings).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
