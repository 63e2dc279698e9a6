// The keep-alive of one socket, on a simulated clock: when it pings, and when it gives the client up.
import { beforeEach, describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { SocketKeepalive } from '../../../src/live/socket/keepalive.ts';

describe('a keep-alive of 15 s and 5 s', () => {
  let clock: SimulatedClock;
  let seen: string[];
  let keepalive: SocketKeepalive;

  beforeEach(() => {
    clock = new SimulatedClock();
    seen = [];
    const at = (what: string) => () => seen.push(`${what} ${clock.now()}`);
    keepalive = new SocketKeepalive(clock, { pingMs: 15_000, pongMs: 5_000 }, { ping: at('ping'), dead: at('dead') });
  });
  /** Millisecond by millisecond: the clock fires what is due at the end of a step, not on its way. */
  const until = (ms: number) => {
    while (clock.now() < ms) clock.increment(1);
  };

  test('pings every 15 s as long as something arrives after each', () => {
    for (const ms of [15_000, 30_000, 45_000]) {
      until(ms);
      until(ms + 4_999);
      keepalive.heard();
    }
    expect(seen).toEqual(['ping 15000', 'ping 30000', 'ping 45000']);
  });

  test('pings also while frames arrive all the time', () => {
    for (let ms = 100; ms <= 31_000; ms += 100) {
      until(ms);
      keepalive.heard();
    }
    expect(seen).toEqual(['ping 15000', 'ping 30000']);
  });

  test('gives up 5 s after a ping that nothing followed, once', () => {
    keepalive.heard();
    until(60_000);
    expect(seen).toEqual(['ping 15000', 'dead 20000']);
  });

  test('ignores what arrived before a ping', () => {
    until(14_999);
    keepalive.heard();
    until(20_000);
    expect(seen).toEqual(['ping 15000', 'dead 20000']);
  });

  test.each([0, 14_999, 15_000, 17_000, 21_000])('does nothing more once stopped, at %i ms', (ms) => {
    until(Math.min(ms, 16_000));
    keepalive.heard();
    until(ms);
    const before = [...seen];
    keepalive.stop();
    until(60_000);
    expect(seen).toEqual(before);
  });

  test('does nothing more when it is stopped from within its ping', () => {
    const pings: number[] = [];
    const stopping = new SocketKeepalive(
      clock,
      { pingMs: 10, pongMs: 5 },
      {
        ping: () => {
          pings.push(clock.now());
          stopping.stop();
        },
        dead: () => pings.push(-1),
      },
    );
    until(1000);
    expect(pings).toEqual([10]);
  });
});
