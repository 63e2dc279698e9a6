// How a file is looked through for its length: the scan asks for pieces and is given them, so that it is pure whoever reads
// the file. How much is read in all, and for how long, is bounded by whoever drives it.

/** Some bytes of the file. */
export interface Piece {
  at: number;
  length: number;
}

/**
 * Asks for pieces, each of which may come back shorter, at the end of the file; returns seconds of sound, or undefined where
 * the file does not tell.
 */
export type LengthScan = Generator<Piece, number | undefined, Uint8Array>;
