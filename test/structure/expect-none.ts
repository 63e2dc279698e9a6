// How the structure tests report: one line for each problem, whole, in whatever reporter.
import { expect } from 'vitest';

/** Fails with one line for each problem. */
export function expectNone(problems: readonly string[], fix = ''): void {
  if (problems.length > 0) expect.fail([fix, ...problems].join('\n'));
}
