// The promise that a process with one core does not lose it to threads of the garbage collector, with figures in bench/live.ts.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { coresWithin, SINGLE_CORE_FLAGS } from '../../src/runtime/collector.ts';

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
