// The syntax of a raw_data_block of AAC (Main, LC, SSR, LTP; SBR and PS travel inside fill elements): finds where a block ends, so
// that blocks can be counted whatever a container says of them. ISO/IEC 14496-3, section 4.4.2.

/** Audio object types. */
const MAIN = 1;
const SSR = 3;
const LTP = 4;
export const PARSED_OBJECTS: readonly number[] = [MAIN, 2, SSR, LTP];

/** Where scale-factor bands begin, in long and short windows. */
export interface Bands {
  long: readonly number[];
  short: readonly number[];
  predictedMax: number;
}

export interface AacSyntax {
  object: number;
  bands: Bands;
}

const [SCE, CPE, CCE, LFE, DSE, PCE, FIL, END] = [0, 1, 2, 3, 4, 5, 6, 7];
const EIGHT_SHORT = 2;
const LTP_BANDS_MAX = 40;
const RESERVED_BOOK = 12;
const NOISE_BOOK = 13;
const SPECTRAL_BOOKS_MAX = 11;
/** No more elements than tags: 16 for each kind, with fill elements among them. */
const ELEMENTS_MAX = 1_024;

interface RawDataBlock {
  bytes: number;
  /** Whether it has a channel: blocks of nothing but fill are not decoded to samples. */
  hasSound: boolean;
}

/** The block that begins here. Throws AacSyntaxError where there is none, or it is cut off. */
export const rawDataBlock = (bytes: Uint8Array, { object, bands }: AacSyntax): RawDataBlock =>
  new Block(new BitReader(bytes), object, bands).read();

interface Windows {
  isShort: boolean;
  sequence: number;
  bandsMax: number;
  /** Windows in each group. */
  groups: readonly number[];
}

const ONE_WINDOW: readonly number[] = [1];

class Block {
  readonly #bits: BitReader;
  readonly #object: number;
  readonly #bands: Bands;

  constructor(bits: BitReader, object: number, bands: Bands) {
    this.#bits = bits;
    this.#object = object;
    this.#bands = bands;
  }

  read(): RawDataBlock {
    const bits = this.#bits;
    let hasSound = false;
    for (let elements = 0; elements < ELEMENTS_MAX; elements++) {
      const element = bits.take(3);
      if (element === END) {
        bits.alignToByte();
        return { bytes: bits.at / 8, hasSound };
      }
      hasSound ||= element === SCE || element === CPE || element === LFE;
      this.#element(element);
    }
    throw new AacSyntaxError('The block has too many elements.');
  }

  #element(element: number): void {
    const bits = this.#bits;
    if (element === FIL) {
      const count = bits.take(4);
      bits.skip(8 * (count === 15 ? 14 + bits.take(8) : count));
      return;
    }
    bits.skip(4);
    if (element === SCE || element === LFE) this.#channel(undefined);
    else if (element === CPE) this.#pair();
    else if (element === CCE) this.#coupling();
    else if (element === DSE) this.#data();
    else if (element === PCE) this.#program();
  }

  #pair(): void {
    const bits = this.#bits;
    const windows = bits.flag() ? this.#windows(true) : undefined;
    if (windows !== undefined) {
      const mask = bits.take(2);
      if (mask === 3) throw new AacSyntaxError('The mask is reserved.');
      if (mask === 1) bits.skip(windows.groups.length * windows.bandsMax);
    }
    this.#channel(windows);
    this.#channel(windows);
  }

  #coupling(): void {
    const bits = this.#bits;
    const isIndependent = bits.flag();
    const coupled = bits.take(3) + 1;
    let gains = 0;
    for (let i = 0; i < coupled; i++) {
      const isPair = bits.flag();
      bits.skip(4);
      gains += isPair && bits.take(2) === 3 ? 2 : 1;
    }
    bits.skip(1 + 1 + 2);
    const books = this.#channel(undefined);
    for (let gain = 1; gain < gains; gain++) {
      if (isIndependent || bits.flag()) skipScaleFactor(bits);
      else for (const book of books) if (book !== 0) skipScaleFactor(bits);
    }
  }

  #data(): void {
    const bits = this.#bits;
    const isAligned = bits.flag();
    const count = bits.take(8);
    const more = count === 255 ? bits.take(8) : 0;
    if (isAligned) bits.alignToByte();
    bits.skip(8 * (count + more));
  }

  #program(): void {
    const bits = this.#bits;
    bits.skip(2 + 4);
    const pairs = bits.take(4) + bits.take(4) + bits.take(4);
    const others = bits.take(2) + bits.take(3);
    const coupling = bits.take(4);
    for (const mixdownBits of [4, 4, 3]) if (bits.flag()) bits.skip(mixdownBits);
    bits.skip(5 * pairs + 4 * others + 5 * coupling);
    bits.alignToByte();
    bits.skip(8 * bits.take(8));
  }

  #windows(isCommon: boolean): Windows {
    const bits = this.#bits;
    bits.skip(1);
    const sequence = bits.take(2);
    bits.skip(1);
    if (sequence === EIGHT_SHORT) {
      const bandsMax = bits.take(4);
      const groups = [1];
      for (let window = 1; window < 8; window++) {
        if (bits.flag()) groups[groups.length - 1]!++;
        else groups.push(1);
      }
      return this.#within({ isShort: true, sequence, bandsMax, groups });
    }
    const bandsMax = bits.take(6);
    if (bits.flag()) this.#prediction(bandsMax, isCommon);
    return this.#within({ isShort: false, sequence, bandsMax, groups: ONE_WINDOW });
  }

  #within(windows: Windows): Windows {
    const { long, short } = this.#bands;
    if (windows.bandsMax >= (windows.isShort ? short : long).length)
      throw new AacSyntaxError('There are too many bands.');
    return windows;
  }

  #prediction(bandsMax: number, isCommon: boolean): void {
    const bits = this.#bits;
    if (this.#object === MAIN) {
      if (bits.flag()) bits.skip(5);
      bits.skip(Math.min(bandsMax, this.#bands.predictedMax));
    } else if (this.#object === LTP) {
      for (let channel = 0; channel < (isCommon ? 2 : 1); channel++) {
        if (bits.flag()) bits.skip(11 + 3 + Math.min(bandsMax, LTP_BANDS_MAX));
      }
    } else throw new AacSyntaxError('Only Main and LTP predict.');
  }

  /** One channel. Gives the book of each of its bands. */
  #channel(common: Windows | undefined): Uint8Array {
    const bits = this.#bits;
    bits.skip(8);
    const windows = common ?? this.#windows(false);
    const books = this.#sections(windows);
    this.#scaleFactors(books);
    if (bits.flag()) {
      if (windows.isShort) throw new AacSyntaxError('Short windows have no pulses.');
      bits.skip(9 * (bits.take(2) + 1) + 6);
    }
    if (bits.flag()) this.#noiseShaping(windows);
    if (bits.flag()) this.#gainControl(windows.sequence);
    this.#spectrum(windows, books);
    return books;
  }

  #sections({ isShort, bandsMax, groups }: Windows): Uint8Array {
    const bits = this.#bits;
    const books = new Uint8Array(groups.length * bandsMax);
    const lengthBits = isShort ? 3 : 5;
    const more = (1 << lengthBits) - 1;
    for (let band = 0; band < books.length; ) {
      const groupEnd = (Math.floor(band / bandsMax) + 1) * bandsMax;
      const book = bits.take(4);
      let length = 0;
      let part = more;
      while (part === more) {
        part = bits.take(lengthBits);
        length += part;
      }
      if (book === RESERVED_BOOK || band + length > groupEnd) throw new AacSyntaxError('There is no such section.');
      books.fill(book, band, band + length);
      band += length;
    }
    return books;
  }

  #scaleFactors(books: Uint8Array): void {
    let isFirstNoise = true;
    for (let band = 0; band < books.length; band++) {
      const book = books[band]!;
      if (book === NOISE_BOOK && isFirstNoise) {
        isFirstNoise = false;
        this.#bits.skip(9);
      } else if (book !== 0) skipScaleFactor(this.#bits);
    }
  }

  #noiseShaping({ isShort }: Windows): void {
    const bits = this.#bits;
    const [windows, filterBits, lengthBits, orderBits] = isShort ? [8, 1, 4, 3] : [1, 2, 6, 5];
    for (let window = 0; window < windows; window++) {
      const filters = bits.take(filterBits);
      if (filters === 0) continue;
      const resolution = bits.take(1) + 3;
      for (let filter = 0; filter < filters; filter++) {
        bits.skip(lengthBits);
        const order = bits.take(orderBits);
        if (order === 0) continue;
        bits.skip(1);
        bits.skip(order * (resolution - bits.take(1)));
      }
    }
  }

  #gainControl(sequence: number): void {
    if (this.#object !== SSR) throw new AacSyntaxError('Only SSR controls gain.');
    const bits = this.#bits;
    const [windows, firstBits, otherBits] = [
      [1, 5, 5],
      [2, 4, 2],
      [8, 2, 2],
      [2, 4, 5],
    ][sequence] as [number, number, number];
    const bands = bits.take(2);
    for (let band = 0; band < bands; band++) {
      for (let window = 0; window < windows; window++) {
        const adjustments = bits.take(3);
        bits.skip(adjustments * (4 + (window === 0 ? firstBits : otherBits)));
      }
    }
  }

  #spectrum({ isShort, bandsMax, groups }: Windows, books: Uint8Array): void {
    const offsets = isShort ? this.#bands.short : this.#bands.long;
    for (let band = 0; band < books.length; band++) {
      const book = books[band]!;
      if (book === 0 || book > SPECTRAL_BOOKS_MAX) continue;
      const index = band % bandsMax;
      const values = (offsets[index + 1]! - offsets[index]!) * groups[Math.floor(band / bandsMax)]!;
      skipSpectrum(this.#bits, book, values);
    }
  }
}

/**
 * A Huffman codebook, only as far as needed to find where the next word begins. Every book is canonical, so the number of words of
 * each length gives the words. ISO/IEC 14496-3, tables 4.A.1 to 4.A.12.
 */
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
function skipSpectrum(bits: BitReader, book: number, values: number): void {
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

function skipScaleFactor(bits: BitReader): void {
  bits.skip(SCALE_FACTORS.lengths[bits.peek(SCALE_FACTORS.bitsMax)]!);
}

/** The bits ended in the middle of something, or say what the standard forbids. */
export class AacSyntaxError extends Error {
  override readonly name = 'AacSyntaxError';
}

/** The most significant bit comes first. */
export class BitReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  /** Position in bits. */
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#end = bytes.length * 8;
  }

  /** Whether more bits were read than there are. */
  get isPastEnd(): boolean {
    return this.at > this.#end;
  }

  /** Up to 25 bits without moving on; zeros after the end. */
  peek(count: number): number {
    const bytes = this.#bytes;
    const byte = this.at >>> 3;
    const four =
      byte + 3 < bytes.length
        ? (bytes[byte]! << 24) | (bytes[byte + 1]! << 16) | (bytes[byte + 2]! << 8) | bytes[byte + 3]!
        : ((bytes[byte] ?? 0) << 24) | ((bytes[byte + 1] ?? 0) << 16) | ((bytes[byte + 2] ?? 0) << 8);
    return (four << (this.at & 7)) >>> (32 - count);
  }

  take(count: number): number {
    const value = count === 0 ? 0 : this.peek(count);
    this.skip(count);
    return value;
  }

  flag(): boolean {
    return this.take(1) === 1;
  }

  /** Throws AacSyntaxError after the end. */
  skip(count: number): void {
    this.at += count;
    if (this.at > this.#end) throw new AacSyntaxError('The bits end too early.');
  }

  alignToByte(): void {
    this.skip(-this.at & 7);
  }
}
