// How a report differs from the last one.
import type { Rows } from '../spread.ts';

const DIFFERENCE = 0.15;
/** What both figures are below is not worth a line: the clock and the tick of the kernel are no finer. */
const SMALLEST = 0.05;
/** These describe the run, not the product. */
const UNCOMPARED = /^(?:others_core|late_percent|missing_percent|gone)$/;

/** One line for each figure of a section that differs by more than 15 %. */
export function differences(now: Rows, last: Rows): string[] {
  return Object.entries(now).flatMap(([row, figures]) =>
    Object.entries(figures).flatMap(([name, figure]) => {
      const before = last[row]?.[name];
      if (before === undefined || UNCOMPARED.test(name)) return [];
      const change = figure.median - before.median;
      const isSmall = Math.max(Math.abs(figure.median), Math.abs(before.median)) < SMALLEST;
      if (isSmall || Math.abs(change) <= DIFFERENCE * Math.abs(before.median)) return [];
      const percent = before.median === 0 ? '' : ` (${signed(Math.round((100 * change) / Math.abs(before.median)))} %)`;
      const doOverlap = figure.min <= before.max && before.min <= figure.max;
      const spreads = doOverlap ? 'the spreads overlap' : 'the spreads do not overlap';
      return [`${row}, ${name}: ${before.median} → ${figure.median}${percent}, ${spreads}`];
    }),
  );
}

const signed = (value: number): string => (value < 0 ? String(value) : `+${value}`);
