// A pure scan of a file for its length: it requests pieces of the file, and its caller reads them and bounds how much.

/** Some bytes of the file. */
export interface Piece {
  at: number;
  length: number;
}

/** Asks for pieces, each of which may come back shorter, at the end of the file. They are not kept: the next takes their place. */
export type Scan<T> = Generator<Piece, T, Uint8Array>;

/** A part of the file, from one position up to another. */
export interface Span {
  from: number;
  to: number;
}

const BLOCK_BYTES = 64 * 1024;

/** Hands on every byte of a part of the file. */
export function* everyByte({ from, to }: Span, push: (bytes: Uint8Array) => void): Scan<void> {
  for (let at = from; at < to; ) {
    const bytes: Uint8Array = yield { at, length: Math.min(BLOCK_BYTES, to - at) };
    if (bytes.length === 0) return;
    push(bytes);
    at += bytes.length;
  }
}

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

export const textAt = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length));
