// Figures of several rounds: the one in the middle, and how far they lie apart.
import { median } from '../median.ts';

export interface Spread {
  median: number;
  min: number;
  max: number;
}

const round = (value: number): number => Math.round(value * 100) / 100;

export const spreadOf = (values: readonly number[]): Spread => ({
  median: round(median(values)),
  min: round(Math.min(...values)),
  max: round(Math.max(...values)),
});

/** Round by round, so that what slows the machine down slows both. */
export const ratiosOf = (some: readonly number[], others: readonly number[]): Spread =>
  spreadOf(some.map((value, round) => value / (others[round] ?? Number.NaN)));

export const textOf = ({ median: middle, min, max }: Spread): string => `${middle} [${min}..${max}]`;

export function percentile(values: Iterable<number>, share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
