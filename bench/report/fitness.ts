// Whether the figures of a section can be published.
import { type Rows, type Spread, textOf } from '../spread.ts';

export const ROUNDS_MIN = 5;
/** In cores, of all programs that are not part of the bench. */
const NOISE_MAX = 0.1;
/** Of the load's core: above it, the load may be what is measured. */
const LOAD_MAX = 0.9;
/** One answer of a short round may come after its end. */
const MISSING_PERCENT_MAX = 5;
const LATE_PERCENT_MAX = 5;

export interface Measurement {
  rounds: number;
  /** Of the machine before the benches began, in cores. */
  idle: Rows;
  rows: Rows;
}

/** One sentence for each reason against it. */
export function faultsOf({ rounds, idle, rows }: Measurement): string[] {
  const beyond = (column: string, most: number, what: string, of: (figure: Spread) => number) =>
    Object.entries(rows).flatMap(([row, figures]) => {
      const figure = figures[column];
      return figure === undefined || of(figure) <= most ? [] : [`${row}: ${what} (${textOf(figure)}).`];
    });
  const inTheMiddle = ({ median }: Spread) => median;
  const atWorst = ({ max }: Spread) => max;
  const before = idle.machine?.busy_core;
  return [
    ...(rounds < ROUNDS_MIN ? [`There were fewer than ${ROUNDS_MIN} rounds.`] : []),
    ...(before !== undefined && before.median > NOISE_MAX
      ? [`Before the bench, other programs used more than ${NOISE_MAX} of a core (${textOf(before)}).`]
      : []),
    ...beyond('others_core', NOISE_MAX, `other programs used more than ${NOISE_MAX} of a core`, inTheMiddle),
    ...beyond('load_core', LOAD_MAX, `the load used more than ${LOAD_MAX} of its core`, inTheMiddle),
    ...beyond(
      'late_percent',
      LATE_PERCENT_MAX,
      `more than ${LATE_PERCENT_MAX} % of the audio was sent late`,
      inTheMiddle,
    ),
    ...beyond(
      'missing_percent',
      MISSING_PERCENT_MAX,
      `more than ${MISSING_PERCENT_MAX} % of the answers were missing`,
      atWorst,
    ),
    ...beyond('gone', 0, 'clients were closed or lost audio', atWorst),
  ];
}
