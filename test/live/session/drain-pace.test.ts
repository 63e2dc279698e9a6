// Those who have to connect again are told in turn.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { tellInTurn } from '../../../src/live/session/host.ts';

test.each([
  { sessions: 1, drainMs: 60_000, lastMs: 0, perSecondMax: 1 },
  { sessions: 12, drainMs: 60_000, lastMs: 1_100, perSecondMax: 10 },
  { sessions: 100, drainMs: 60_000, lastMs: 9_900, perSecondMax: 10 },
  { sessions: 5_000, drainMs: 60_000, lastMs: 14_700, perSecondMax: 340 },
  // Less time to end leaves less for telling them.
  { sessions: 100, drainMs: 6_000, lastMs: 1_400, perSecondMax: 70 },
  { sessions: 100, drainMs: 100, lastMs: 0, perSecondMax: 100 },
])('warns $sessions sessions with $drainMs ms within $lastMs ms, $perSecondMax per second', async (row) => {
  const clock = new SimulatedClock();
  const toldMs: number[] = [];
  const sessions = Array.from({ length: row.sessions }, (_, index) => index);
  const told: number[] = [];
  tellInTurn(sessions, row.drainMs, clock, (session) => {
    told.push(session);
    toldMs.push(clock.now());
  });
  const beganMs = clock.now();
  for (let ms = 0; ms < 20_000; ms += 100) clock.increment(100);
  expect(told).toEqual(sessions);
  expect((toldMs.at(-1) as number) - beganMs).toBe(row.lastMs);
  const inSecond = (fromMs: number) => toldMs.filter((at) => at >= fromMs && at < fromMs + 1_000).length;
  expect(Math.max(...toldMs.map(inSecond))).toBe(row.perSecondMax);
});

test('warns no further session when it is stopped', () => {
  const clock = new SimulatedClock();
  let told = 0;
  const stop = tellInTurn([1, 2, 3], 60_000, clock, () => told++);
  stop();
  clock.increment(20_000);
  expect(told).toBe(1);
});
