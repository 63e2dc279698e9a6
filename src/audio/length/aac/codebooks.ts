// The Huffman codebooks of AAC, only as far as needed to find where the next word begins. Every book is canonical, so the number
// of words of each length gives the words. ISO/IEC 14496-3, tables 4.A.1 to 4.A.12.
import { AacSyntaxError, type BitReader } from './bits.ts';

interface Codebook {
  /** Spectral values in a word. */
  dimension: number;
  bitsMax: number;
  /** By the next `bitsMax` bits: the bits of the word and its signs, plus {@link ESCAPE} for each escape that follows. */
  lengths: Uint8Array;
}

const ESCAPE = 32;
/** The standard forbids longer escapes. */
const ESCAPE_ONES_MAX = 8;
/** Signs and escapes of a word: digits are signs alone. */
const WITH_ESCAPES: Readonly<Record<string, number>> = { a: 1 + ESCAPE, b: 2 + ESCAPE, c: 2 + 2 * ESCAPE };

/**
 * @param counts words of each length, starting with one bit
 * @param signs sign bits of each word, in the order of the codes; signed books have none
 */
function codebook(dimension: number, counts: readonly number[], signs = ''): Codebook {
  const bitsMax = counts.length;
  const lengths = new Uint8Array(1 << bitsMax);
  let word = 0;
  let filled = 0;
  counts.forEach((count, index) => {
    for (let i = 0; i < count; i++, word++) {
      const sign = signs[word] ?? '0';
      const end = filled + (1 << (bitsMax - index - 1));
      lengths.fill(index + 1 + (WITH_ESCAPES[sign] ?? Number(sign)), filled, end);
      filled = end;
    }
  });
  return { dimension, bitsMax, lengths };
}

/** By number; 0 has no words. */
const SPECTRAL: readonly (Codebook | undefined)[] = [
  undefined,
  codebook(4, [1, 0, 0, 0, 8, 0, 24, 0, 24, 8, 16]),
  codebook(4, [0, 0, 1, 1, 7, 24, 15, 19, 14]),
  codebook(
    4,
    [1, 0, 0, 4, 2, 6, 3, 5, 15, 15, 8, 9, 3, 3, 5, 2],
    '011112222232343311223232331221224334323244332333223243344233333344442233434443233',
  ),
  codebook(
    4,
    [0, 0, 0, 10, 6, 0, 9, 21, 8, 14, 11, 2],
    '433331202222121144443333333333332222222222221111444444333333333433344422222243333',
  ),
  codebook(2, [1, 0, 0, 4, 4, 0, 4, 12, 12, 12, 18, 10, 4]),
  codebook(2, [0, 0, 0, 9, 0, 16, 13, 8, 23, 8, 4]),
  codebook(
    2,
    [1, 0, 2, 1, 0, 4, 5, 10, 14, 15, 8, 4],
    '0112221122211222222221122212122222222211222222222222112222222222',
  ),
  codebook(2, [0, 0, 1, 5, 7, 10, 14, 15, 8, 4], '2212120112222222221122222222221212222222121222222222221212222112'),
  codebook(
    2,
    [1, 0, 2, 1, 0, 4, 3, 8, 11, 20, 31, 38, 32, 14, 4],
    '0112221122211222222221122222221212222222212222222212221222212222112222222222222122212222222222222222' +
      '222212212222222122222222222222212212222122222222222222222222222222222',
  ),
  codebook(
    2,
    [0, 0, 0, 3, 8, 14, 17, 25, 31, 41, 22, 8],
    '2222112222211222202211222222222222121222222222222121222222222222222222122222122222222222222222121222' +
      '222212222221222222222222222221212122222222222222212122212221222222122',
  ),
  codebook(
    2,
    [0, 0, 0, 2, 6, 7, 16, 59, 55, 95, 43, 6],
    '02c11222222121222222211222222222222222bbbbb2b121b2bbbb22222bb22bbb22b2bbb2b22bb2221bb222212bb22b2b22' +
      '22222b221222222122222222222222122222222222a222222a21222222222222222222222222222222122222222222222222' +
      '21222222222222222222222222222112222222222222222222222222212212122212222211222212212112112',
  ),
];
const SCALE_FACTORS = codebook(1, [1, 0, 1, 3, 2, 4, 3, 5, 4, 6, 6, 6, 5, 8, 4, 7, 3, 7, 46]);

/** Passes over this many spectral values of a book from 1 to 11. */
export function skipSpectrum(bits: BitReader, book: number, values: number): void {
  const { dimension, bitsMax, lengths } = SPECTRAL[book]!;
  for (let value = 0; value < values; value += dimension) {
    const length = lengths[bits.peek(bitsMax)]!;
    bits.at += length % ESCAPE;
    for (let escapes = length; escapes >= ESCAPE; escapes -= ESCAPE) skipEscape(bits);
    // Checked here rather than at each word: the reader gives zeros after the end.
    if (bits.isPastEnd) bits.skip(0);
  }
}

function skipEscape(bits: BitReader): void {
  let ones = 0;
  while (bits.flag()) ones++;
  if (ones > ESCAPE_ONES_MAX) throw new AacSyntaxError('An escape is too long.');
  bits.skip(ones + 4);
}

export function skipScaleFactor(bits: BitReader): void {
  bits.skip(SCALE_FACTORS.lengths[bits.peek(SCALE_FACTORS.bitsMax)]!);
}
