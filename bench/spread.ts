// Figures of several rounds: the one in the middle, and how far they lie apart.
import { median } from './median.ts';

export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** Figures by their names, of rows by theirs: of every target, for example. */
export type Rows = Readonly<Record<string, Readonly<Record<string, Spread>>>>;

const round = (value: number): number => Math.round(value * 1_000) / 1_000;

export const spreadOf = (values: readonly number[]): Spread => ({
  median: round(median(values)),
  min: round(Math.min(...values)),
  max: round(Math.max(...values)),
});

/** Round by round, so that what slows the machine down slows both. */
export const ratiosOf = (some: readonly number[], others: readonly number[]): Spread =>
  spreadOf(some.map((value, round) => value / (others[round] ?? Number.NaN)));

/** Round by round as well. */
export const differencesOf = (some: readonly number[], others: readonly number[]): Spread =>
  spreadOf(some.map((value, round) => value - (others[round] ?? Number.NaN)));

/** As many digits as a reader needs. */
const shown = (value: number): string => {
  const decimals = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  return String(Number(value.toFixed(decimals)));
};

/** The brackets are left out if all rounds agree. */
export const textOf = ({ median: middle, min, max }: Spread): string =>
  min === max ? shown(middle) : `${shown(middle)} [${shown(min)}..${shown(max)}]`;

export function percentile(values: Iterable<number>, share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
