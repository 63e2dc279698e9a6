// What the product is to reach, and whether a report reaches it.
import { type Rows, textOf } from '../spread.ts';

/** A bound for one figure of one section. */
export interface Goal {
  what: string;
  row: string;
  column: string;
  bound: { atMost: number } | { atLeast: number };
  /** The figure that is shown for both where the goal is a ratio. */
  shown?: string;
}

/** Of the section's figures; a goal whose figure was not measured is left out. */
export function judged(goals: readonly Goal[], rows: Rows): string[][] {
  return goals.flatMap(({ what, row, column, bound, shown = column }) => {
    const figure = rows[row]?.[column];
    if (figure === undefined) return [];
    const isWithin = (value: number) => ('atMost' in bound ? value <= bound.atMost : value >= bound.atLeast);
    const verdict = isWithin(figure.median) ? 'met' : 'not met';
    const isSure = isWithin(figure.min) === isWithin(figure.max);
    const limit = 'atMost' in bound ? `≤ ${bound.atMost}` : `≥ ${bound.atLeast}`;
    const texts = [rows.floor?.[shown], rows[row]?.[shown], rows[row]?.core_vs_floor].map((each, at) =>
      each === undefined || (at === 2 && shown !== 'core') ? '–' : textOf(each),
    );
    return [
      [
        what,
        ...texts,
        column.includes('_vs_floor') ? `${limit} × floor` : limit,
        isSure ? verdict : `${verdict}, not in every round`,
      ],
    ];
  });
}

export const GOAL_HEAD = ['', 'floor', 'measured', 'ratio to the floor', 'goal', ''];
