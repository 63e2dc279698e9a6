// Delays in cells of a logarithmic scale: small, added up without loss, and good enough for a median.

/** Each cell is 19 % wider than the one before it. */
const CELLS_PER_OCTAVE = 4;
/** From 1 ms to 65 s. */
export const CELLS = 64;

/** The cell of a delay; what is shorter or longer than the scale is in its first or last one. */
export function cellOf(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(CELLS - 1, Math.floor(Math.log2(ms) * CELLS_PER_OCTAVE));
}

/** The median in milliseconds, evenly spread within its cell; undefined without delays. */
export function medianOf(counts: ArrayLike<number>): number | undefined {
  const total = totalOf(counts);
  if (total === 0) return undefined;
  let below = 0;
  for (let cell = 0; cell < counts.length; cell++) {
    const inside = counts[cell] as number;
    if (inside > 0 && below + inside >= total / 2)
      return 2 ** ((cell + (total / 2 - below) / inside) / CELLS_PER_OCTAVE);
    below += inside;
  }
  return undefined;
}

export function totalOf(counts: ArrayLike<number>): number {
  let total = 0;
  for (let cell = 0; cell < counts.length; cell++) total += counts[cell] as number;
  return total;
}
