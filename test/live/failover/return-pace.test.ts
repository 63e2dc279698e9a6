// How often a session may return to its primary: at most once in a while, and less often the more the primary fails.
import { describe, expect, it } from 'vitest';
import { ReturnPace } from '../../../src/live/failover/return-pace.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** The first second from that time on at which an attempt is due. */
function dueAfter(pace: ReturnPace, fromMs: number): number {
  for (let ms = fromMs; ms < fromMs + 100 * MINUTE; ms += SECOND) if (pace.isDue(ms)) return ms - fromMs;
  return Number.POSITIVE_INFINITY;
}

describe('the pace of returns', () => {
  it('has the first attempt ten seconds after the failover', () => {
    const pace = new ReturnPace(MINUTE);
    expect(pace.isDue(0)).toBe(false);
    pace.left(5 * SECOND);
    expect(dueAfter(pace, 5 * SECOND)).toBe(10 * SECOND);
  });

  it('doubles the pause with each attempt that fails, up to a quarter of an hour', () => {
    const pace = new ReturnPace(MINUTE);
    pace.left(0);
    const pauses: number[] = [];
    for (let nowMs = 0, count = 0; count < 9; count++) {
      const pauseMs = dueAfter(pace, nowMs);
      pauses.push(pauseMs / SECOND);
      nowMs += pauseMs;
      pace.failed(nowMs);
    }
    expect(pauses).toEqual([10, 20, 40, 80, 160, 320, 640, 900, 900]);
  });

  it('lets a primary that flaps have the session eight times in an hour at the most', () => {
    const pace = new ReturnPace(MINUTE);
    const returns: number[] = [];
    pace.left(0);
    for (let ms = 0; ms < 60 * MINUTE; ms += SECOND) {
      if (!pace.isDue(ms)) continue;
      returns.push(ms / SECOND);
      pace.returned(ms);
      // It fails again within a second.
      pace.left(ms + SECOND);
    }
    const pauses = returns.map((at, index) => at - (returns[index - 1] ?? 0));
    expect(pauses).toEqual([10, 61, 121, 241, 481, 901, 901]);
  });

  it('forgets earlier failures once a return has held for five minutes', () => {
    const pace = new ReturnPace(MINUTE);
    pace.left(0);
    pace.failed(10 * SECOND);
    pace.failed(30 * SECOND);
    pace.returned(2 * MINUTE);
    pace.left(7 * MINUTE);
    expect(dueAfter(pace, 7 * MINUTE)).toBe(10 * SECOND);
  });

  it('lets a leg that was not used cost no longer pause', () => {
    const pace = new ReturnPace(MINUTE);
    pace.left(0);
    pace.unused(40 * SECOND);
    expect(dueAfter(pace, 40 * SECOND)).toBe(10 * SECOND);
  });
});
