// For how long packets of Vorbis sound: each is of one of two sizes, and the modes at the end of the stream's setup say of which.
// Vorbis I, sections 3.2.1, 4.2 to 4.3, 6.2.1, 7.2.2 and 8.6.1.

const IDENTIFICATION_BYTES = 29;

/** A stream, from its three headers on. */
export class VorbisStream {
  readonly #sizes: readonly [short: number, long: number];
  readonly #hertz: number;
  readonly channels: number;
  /** Whether each is of the longer packets. */
  #modes: readonly boolean[] = [true];
  #before = 0;
  #samples = 0;

  private constructor(identification: Uint8Array) {
    const view = new DataView(identification.buffer, identification.byteOffset, identification.length);
    this.channels = identification[11] || 1;
    this.#hertz = view.getUint32(12, true);
    this.#sizes = [1 << (identification[28]! & 15), 1 << (identification[28]! >> 4)];
  }

  /** Undefined where the first header says no rate. */
  static of(identification: Uint8Array): VorbisStream | undefined {
    if (identification.length < IDENTIFICATION_BYTES) return undefined;
    const stream = new VorbisStream(identification);
    return stream.#hertz === 0 ? undefined : stream;
  }

  get seconds(): number {
    return this.#samples / this.#hertz;
  }

  /** Hears of the third header. A decoder that understands more of it than this has packets of the longer size at most. */
  setUp(setup: Uint8Array): void {
    this.#modes = vorbisModes(setup, this.channels) ?? [true];
  }

  /** @param first its first byte: one bit that is 0, and the number of the mode */
  packet(first: number): void {
    if ((first & 1) === 1) return;
    const bits = 32 - Math.clz32(this.#modes.length - 1);
    const isLong = this.#modes[(first >> 1) & ((1 << bits) - 1)] ?? true;
    const size = this.#sizes[isLong ? 1 : 0];
    if (this.#before > 0) this.#samples += (this.#before + size) / 4;
    this.#before = size;
  }
}

const MAGIC_BITS = 7 * 8;
const CODEBOOK = 0x56_4342;
const FLOORS_MAX = 1;

/**
 * Whether each mode is of the longer packets. Modes are at the end of the setup, so everything before them has to be parsed.
 * Undefined where the setup makes no sense.
 */
function vorbisModes(setup: Uint8Array, channels: number): readonly boolean[] | undefined {
  const bits = new Bits(setup);
  bits.skip(MAGIC_BITS);
  try {
    times(bits.take(8) + 1, () => codebook(bits));
    times(bits.take(6) + 1, () => bits.skip(16));
    times(bits.take(6) + 1, () => floor(bits));
    times(bits.take(6) + 1, () => residue(bits));
    times(bits.take(6) + 1, () => mapping(bits, channels));
    const modes: boolean[] = [];
    times(bits.take(6) + 1, () => {
      modes.push(bits.take(1) === 1);
      bits.skip(16 + 16 + 8);
    });
    return modes;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const times = (count: number, action: () => void): void => {
  for (let i = 0; i < count; i++) action();
};

/** Least significant first. Fails with a RangeError at the end. */
class Bits {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  take(count: number): number {
    const from = this.#at;
    this.skip(count);
    let value = 0;
    for (let i = 0; i < count; i++) value += ((this.#bytes[(from + i) >> 3]! >> ((from + i) & 7)) & 1) * 2 ** i;
    return value;
  }

  skip(count: number): void {
    this.#at += count;
    if (this.#at > this.#bytes.length * 8) throw new RangeError('The setup ends too early.');
  }
}

const bitsOf = (number: number): number => 32 - Math.clz32(number);

function codebook(bits: Bits): void {
  if (bits.take(24) !== CODEBOOK) throw new RangeError('This is no codebook.');
  const dimensions = bits.take(16);
  const entries = bits.take(24);
  if (bits.take(1) === 1) {
    bits.skip(5);
    for (let entry = 0; entry < entries; ) entry += bits.take(bitsOf(entries - entry));
  } else {
    const isSparse = bits.take(1) === 1;
    times(entries, () => {
      if (!isSparse || bits.take(1) === 1) bits.skip(5);
    });
  }
  const lookup = bits.take(4);
  if (lookup === 0) return;
  if (lookup > 2) throw new RangeError('There is no such lookup.');
  bits.skip(32 + 32);
  const valueBits = bits.take(4) + 1;
  bits.skip(1);
  bits.skip(valueBits * (lookup === 1 ? lookupValues(entries, dimensions) : entries * dimensions));
}

/** The greatest number whose power is no more than the entries. */
function lookupValues(entries: number, dimensions: number): number {
  if (dimensions === 0) throw new RangeError('There are no dimensions.');
  let values = Math.floor(entries ** (1 / dimensions));
  while ((values + 1) ** dimensions <= entries) values++;
  while (values ** dimensions > entries) values--;
  return values;
}

function floor(bits: Bits): void {
  const kind = bits.take(16);
  if (kind > FLOORS_MAX) throw new RangeError('There is no such floor.');
  if (kind === 0) {
    bits.skip(8 + 16 + 16 + 6 + 8);
    bits.skip((bits.take(4) + 1) * 8);
    return;
  }
  const classes: number[] = [];
  times(bits.take(5), () => classes.push(bits.take(4)));
  const dimensions: number[] = [];
  times(Math.max(-1, ...classes) + 1, () => {
    dimensions.push(bits.take(3) + 1);
    const subclasses = bits.take(2);
    bits.skip((subclasses > 0 ? 8 : 0) + 8 * 2 ** subclasses);
  });
  bits.skip(2);
  const rangeBits = bits.take(4);
  bits.skip(classes.reduce((sum, each) => sum + dimensions[each]! * rangeBits, 0));
}

function residue(bits: Bits): void {
  bits.skip(16 + 24 + 24 + 24);
  const classifications = bits.take(6) + 1;
  bits.skip(8);
  let books = 0;
  times(classifications, () => {
    const low = bits.take(3);
    const high = bits.take(1) === 1 ? bits.take(5) : 0;
    books += [...(high * 8 + low).toString(2)].filter((bit) => bit === '1').length;
  });
  bits.skip(books * 8);
}

function mapping(bits: Bits, channels: number): void {
  bits.skip(16);
  const submaps = bits.take(1) === 1 ? bits.take(4) + 1 : 1;
  if (bits.take(1) === 1) bits.skip((bits.take(8) + 1) * 2 * bitsOf(channels - 1));
  bits.skip(2);
  if (submaps > 1) bits.skip(4 * channels);
  bits.skip(submaps * (8 + 8 + 8));
}
