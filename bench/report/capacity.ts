// How many sessions a core carries.
import type { Rows } from '../spread.ts';

/** A node with less than that free answers bursts late. */
const USED_MAX = 0.8;

/** Adds it to the rows of programs between clients and provider. */
export function withCapacity(rows: Rows, sessions: number): Rows {
  const capacityAt = (core: number) => Math.round((USED_MAX * sessions) / core);
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => {
      if (row.core === undefined) return [name, row];
      const { median, min, max } = row.core;
      const capacity = { median: capacityAt(median), min: capacityAt(max), max: capacityAt(min) };
      return [name, { ...row, sessions_per_core: capacity }];
    }),
  );
}
