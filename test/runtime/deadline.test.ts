// A deadline is reached once, that long after the last touch, and never after it was stopped.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';
import { IdleTimer } from '../../src/runtime/timeouts.ts';
import { timersOf } from '../live/session/support.ts';

describe('a deadline', () => {
  it('fires exactly after the last touch, with one timer', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 150 }), { maxLength: 20 }), (pauses) => {
        const clock = new SimulatedClock();
        let reachedAt: number | undefined;
        const deadline = new IdleTimer(clock, 100, () => {
          reachedAt = clock.now();
        });
        let due = 100;
        const goTo = (timeMs: number) => {
          while (clock.now() < timeMs) clock.increment(1);
        };
        for (const pause of pauses) {
          goTo(clock.now() + pause);
          if (reachedAt !== undefined) break;
          expect(timersOf(clock)).toBe(1);
          deadline.touch();
          due = clock.now() + 100;
        }
        goTo(due + 200);
        expect([reachedAt, timersOf(clock)]).toEqual([due, 0]);
      }),
      { numRuns: 200 },
    );
  });

  it('never fires after it was stopped, despite further touches', () => {
    const clock = new SimulatedClock();
    let reached = 0;
    const deadline = new IdleTimer(clock, 100, () => reached++);
    deadline.stop();
    deadline.touch();
    deadline.stop();
    clock.increment(1_000);
    expect([reached, timersOf(clock)]).toEqual([0, 0]);
  });

  it('may be stopped, or replaced, from where it is reached', () => {
    const clock = new SimulatedClock();
    const reachedAt: number[] = [];
    const begin = (): IdleTimer =>
      new IdleTimer(clock, 100, () => {
        reachedAt.push(clock.now());
        deadline.stop();
        if (reachedAt.length < 3) deadline = begin();
      });
    let deadline = begin();
    for (let i = 0; i < 50; i++) clock.increment(10);
    expect([reachedAt, timersOf(clock)]).toEqual([[100, 200, 300], 0]);
  });

  it('waits for a message in the socket when the process was delayed', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [received] = (await once(server, 'connection')) as [Socket];
    const reached: string[] = [];
    const deadline = new IdleTimer(systemClock, 50, () => reached.push('deadline'));
    const moved = once(received, 'data').then(() => {
      deadline.touch();
      reached.push('message');
    });
    await new Promise((resolve) => client.write('message', resolve));
    blockFor(200);
    await moved;
    expect(reached).toEqual(['message']);
    deadline.stop();
    client.destroy();
    server.close();
  });

  describe('that outlasts a freeze', () => {
    /** When it is reached, on a clock whose timers come at these times alone. */
    function reachedAt(times: readonly number[], touchedAt?: number): number | undefined {
      let nowMs = 0;
      let due: { atMs: number; run: () => void } | undefined;
      const clock = {
        now: () => nowMs,
        setTimeout: (run: () => void, ms: number) => {
          due = { atMs: nowMs + ms, run };
          return due;
        },
        clearTimeout: () => {},
      };
      let reached: number | undefined;
      const deadline = new IdleTimer(clock, 10_000, () => (reached = nowMs), { outlastsFreeze: true });
      for (const time of times) {
        nowMs = time;
        while (due !== undefined && due.atMs <= nowMs) {
          const { run } = due;
          due = undefined;
          run();
        }
        if (time === touchedAt) deadline.touch();
      }
      return reached;
    }

    it('fires in time without one, also by a timer that is a little late', () => {
      expect([reachedAt([10_000]), reachedAt([10_900])]).toEqual([10_000, 10_900]);
    });

    it('waits for the full time after one', () => {
      expect(reachedAt([15_000, 24_900])).toBeUndefined();
      expect(reachedAt([15_000, 25_000])).toBe(25_000);
    });

    it('does not fire if the answer had arrived', () => {
      expect(reachedAt([15_000, 25_000], 15_000)).toBe(25_000);
      expect(reachedAt([15_000, 16_000, 24_999], 15_000)).toBeUndefined();
    });
  });
});

/** The process does nothing else meanwhile. */
function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
