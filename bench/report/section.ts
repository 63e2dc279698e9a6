// A section of the report: a bench, its tables, and the goals.
import type { Rows } from '../spread.ts';
import type { Goal } from './goals.ts';
import { mergedRuns, type PlainRows } from './merge.ts';
import type { Columns } from './page.ts';

export interface Length {
  rounds: number;
  /** Of a round of live sessions or files. */
  seconds: number;
  warm: number;
}

export type Figures = Readonly<Record<string, unknown>>;

export interface Section {
  title: string;
  /** The bench, with the arguments that make it this section. */
  bench: string;
  /** What makes it shorter or longer. A bench without rounds is run once for each of them. */
  lengthOf(length: Length): readonly string[];
  isRepeated?: boolean;
  /** How long one run takes, about. */
  secondsOf(length: Length): number;
  rowsOf(runs: readonly Figures[]): Rows;
  tables: readonly Columns[];
  goals: readonly Goal[];
  meaning: string;
}

export const rowsAt =
  (...names: readonly string[]) =>
  ([figures = {}]: readonly Figures[]): Rows =>
    Object.assign({}, ...names.map((name) => figures[name]));

export const plainAt = (name: string) => (runs: readonly Figures[]) =>
  mergedRuns(runs.map((figures) => figures[name] as PlainRows));

export const withRounds = ({ rounds }: Length) => ['--rounds', String(rounds)];

export const atMost = (what: string, column: string, most: number, row = 'gateway'): Goal => ({
  ...{ what, row, column },
  bound: { atMost: most },
});

/** Of all rounds or runs. */
export const estimatedSeconds = (section: Section, length: Length): number =>
  section.secondsOf(length) * (section.isRepeated === true ? length.rounds : 1);
