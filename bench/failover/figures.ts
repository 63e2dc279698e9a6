// What the processes of the bench of failovers share: one clock, and percentiles.

/** The machine's monotonic clock, which its processes share. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export interface Percentiles {
  p50: number;
  p99: number;
  max: number;
}

export function percentiles(values: readonly number[]): Percentiles {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (part: number) =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN) * 10) / 10;
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** How much later the one is than the other. */
export const difference = (one: Percentiles, other: Percentiles): Omit<Percentiles, 'max'> => ({
  p50: Math.round((one.p50 - other.p50) * 10) / 10,
  p99: Math.round((one.p99 - other.p99) * 10) / 10,
});
