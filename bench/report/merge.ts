// Several runs of a bench that has no rounds, as one.
import { type Rows, spreadOf } from '../spread.ts';

/** The rows of one run with plain numbers. */
export type PlainRows = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Of each figure that every run has. */
export function mergedRuns(runs: readonly PlainRows[]): Rows {
  const [first = {}] = runs;
  return Object.fromEntries(
    Object.entries(first).map(([row, figures]) => [
      row,
      Object.fromEntries(
        Object.keys(figures).flatMap((name) => {
          const values = runs.map((run) => run[row]?.[name]).filter((value) => typeof value === 'number');
          return values.length < runs.length ? [] : [[name, spreadOf(values)]];
        }),
      ),
    ]),
  );
}
