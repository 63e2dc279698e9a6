// The promises that a process with one core does not lose it to threads of the garbage collector, and that one with nothing left to do
// gives memory back. Figures: bench/live.ts, bench/memory.ts.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import { coresWithin, IdleCollector, SINGLE_CORE_FLAGS } from '../../src/runtime/collector.ts';

it.each([
  [8, '', 8],
  [8, 'max 100000\n', 8],
  [8, '100000 100000\n', 1],
  [8, '50000 100000\n', 0.5],
  [8, '250000 100000\n', 2.5],
  [2, '400000 100000\n', 2],
  [1, 'max 100000\n', 1],
  [4, 'what no kernel writes', 4],
  [4, '0 0', 4],
])('counts, on %d cores with the quota "%s", %d', (cores, quota, counted) => {
  expect(coresWithin(cores, quota)).toBe(counted);
});

it('sets only flags that this V8 has', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  for (const flag of SINGLE_CORE_FLAGS) expect(known).toContain(`  ${flag.replace('--no-', '--')} `);
});

const MIB = 1024 * 1024;

/** A process whose heap a rush has grown, of which 30 MiB are needed. The first collection frees objects, the second one pages. */
function processWith({ active = 0.01, sessions = 0, totalMib = 340 }) {
  const clock = new SimulatedClock();
  let seen = { idle: 0, active: 0, utilization: 0 };
  const heap = { total_heap_size: totalMib * MIB, used_heap_size: 300 * MIB };
  let collections = 0;
  const collector = new IdleCollector({
    clock: clock as unknown as Clock,
    sessions: () => sessions,
    heap: () => heap,
    look: () => seen,
    collect: () => {
      collections++;
      heap.total_heap_size = Math.max(40 * MIB, heap.total_heap_size - 200 * MIB);
      heap.used_heap_size = 30 * MIB;
    },
  });
  const pass = (looks: number) => {
    for (let look = 0; look < looks; look++) {
      seen = { idle: seen.idle + 5_000 * (1 - active), active: seen.active + 5_000 * active, utilization: 0 };
      clock.increment(5_000);
    }
    return collections;
  };
  return { clock, collector, pass, heap };
}

it('collects what a rush has left, until the pages are given back, and then rests', () => {
  const { pass, heap } = processWith({});
  expect(pass(1)).toBe(1);
  expect(pass(1)).toBe(2);
  expect(heap.total_heap_size).toBe(40 * MIB);
  expect(pass(100)).toBe(2);
});

it.each([
  ['the loop is busy', { active: 0.06 }],
  ['a session is live', { sessions: 1 }],
  ['there is little to collect', { totalMib: 32 }],
])('does not collect while %s', (_, state) => {
  expect(processWith(state).pass(100)).toBe(0);
});

it('collects no more once it is closed, and leaves no timer', () => {
  const { clock, collector, pass } = processWith({});
  collector.close();
  expect(pass(10)).toBe(0);
  expect((Reflect.get(clock, 'timeouts') as Map<unknown, unknown>).size).toBe(0);
});

it('collects with the collector of V8, without a flag of Node', () => {
  const clock = new SimulatedClock();
  const heap = { total_heap_size: 340 * MIB, used_heap_size: 300 * MIB };
  const idle = { idle: 1, active: 0, utilization: 0 };
  const collector = new IdleCollector({
    clock: clock as unknown as Clock,
    sessions: () => 0,
    heap: () => heap,
    look: () => idle,
  });
  const collected = new WeakRef(Object.assign([], { length: 1_000 }));
  return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    clock.increment(5_000);
    expect(collected.deref()).toBeUndefined();
    collector.close();
  });
});
