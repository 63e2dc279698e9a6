// What a node remembers of its metrics: an hour and a day of steps, and no more than that of models.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { MetricsHistory, percentile, WINDOWS } from '../../../src/runtime/telemetry/history.ts';
import { type ModelFigures, noFigures } from '../../../src/runtime/telemetry/model-metrics.ts';

function rig() {
  const clock = new SimulatedClock();
  const totals = new Map<string, ModelFigures>();
  const history = new MetricsHistory({
    totals: async () => structuredClone(totals),
    sessions: () => 1,
    clock,
    wallNowMs: () => clock.now(),
  });
  return { clock, totals, history };
}

test('keeps an hour and a day, however long the node runs', async () => {
  const { clock, totals, history } = rig();
  const figures = noFigures();
  totals.set('a/b', figures);
  for (let at = 0; at < 10_000; at++) {
    figures.attempts++;
    clock.increment(10_000);
    await history.sample();
  }
  const hour = await history.slots('hour');
  const day = await history.slots('day');
  expect(hour.length).toBeLessThanOrEqual(3_600_000 / WINDOWS.hour.stepMs + 1);
  expect(day.length).toBeLessThanOrEqual(86_400_000 / WINDOWS.day.stepMs + 1);
  const counted = (slots: typeof hour) =>
    slots.reduce((sum, { models }) => sum + (models.get('a/b')?.attempts ?? 0), 0);
  expect(counted(hour)).toBeGreaterThan(350);
  expect(counted(hour)).toBeLessThanOrEqual(361);
  expect(counted(day)).toBeGreaterThan(8_500);
  expect(counted(day)).toBeLessThanOrEqual(8_680);
});

test('counts models beyond a bound together, and loses none of what was counted', async () => {
  const { totals, history } = rig();
  for (let at = 0; at < 200; at++) totals.set(`a/${at}`, { ...noFigures(), attempts: 1 });
  const [slot] = await history.slots('hour');
  expect(slot?.models.size).toBe(32);
  expect([...(slot?.models.values() ?? [])].reduce((sum, { attempts }) => sum + attempts, 0)).toBe(200);
});

test.each([
  [0.5, [0, 10, 10], 0.15],
  [0.95, [5, 10, 10], 0.19],
  [0.5, [0, 0, 10], 0.2],
  [0.5, [10, 10, 10], 0.05],
])('computes percentile %d of %j as %d', (share, counts, expected) => {
  expect(percentile(share, counts, [0.1, 0.2])).toBe(expected);
});
