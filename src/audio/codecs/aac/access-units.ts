// How much AAC the access units of a track hold. A unit is one block as a rule, but a decoder continues in one that holds several:
// the blocks of each are counted. Of long files, units after the first thousands are checked at random, which is enough to find
// hidden blocks and costs little.

import { secondsAtMost } from '../../scan.ts';
import { type AacConfig, adtsFrame, adtsHeadBytes } from './config.ts';
import { type AacSyntax, AacSyntaxError, rawDataBlock } from './raw-data-block.ts';

/** Twenty minutes at 16 kHz. */
const CHECKED_FIRST = 20_000;
const CHECKED_SHARE = 1 / 16;
/** A larger unit is not read: 64 channels have less. */
const UNIT_BYTES_MAX = 65_536;
/** With more units than this that cannot be read, the file is not damaged but strange. */
const UNREADABLE_SHARE_MAX = 0.05;

export class AccessUnits {
  readonly #config: AacConfig;
  readonly #random: () => number;
  #units = 0;
  #blocks = 0;
  #unchecked = 0;
  #unreadable = 0;
  #missing = 0;
  /** The most blocks in a unit. */
  #most = 1;
  /** What unreadable bytes hold beyond one block a unit. */
  #extraSeconds = 0;
  /** What they hold at least, by the bit reservoir. */
  #extraBlocks = 0;

  constructor(config: AacConfig, random: () => number = Math.random) {
    this.#config = config;
    this.#random = random;
  }

  get channels(): number {
    return this.#config.channels;
  }

  /** Some units are missing, or cannot be read. */
  get isDamaged(): boolean {
    return this.#missing + this.#unreadable > 0;
  }

  get secondsMax(): number {
    const blocks = this.#blocks + this.#unchecked * this.#most + this.#missing;
    return blocks * this.#config.seconds + this.#extraSeconds;
  }

  get seconds(): number {
    if (this.#unreadable > this.#units * UNREADABLE_SHARE_MAX) return this.secondsMax;
    return (this.#blocks + this.#unchecked * this.#most + this.#extraBlocks) * this.#config.seconds;
  }

  /** Whether the bytes of the next unit are needed: then `unit` follows, else `uncheckedUnit`. */
  isChecked(size: number): boolean {
    const { syntax, unitBytesMax } = this.#config;
    if (syntax === undefined || size > UNIT_BYTES_MAX) return false;
    return this.#units < CHECKED_FIRST || size > unitBytesMax || this.#most > 1 || this.#random() < CHECKED_SHARE;
  }

  /** A unit whose bytes were not looked at. */
  uncheckedUnit(size: number): void {
    this.#units++;
    const { syntax, unitBytesMax } = this.#config;
    if (size <= unitBytesMax) this.#unchecked++;
    else {
      this.#blocks++;
      this.#unreadableBytes(size, unitBytesMax);
      if (syntax !== undefined) this.#unreadable++;
    }
  }

  /** A unit that the tables place after the end of the file. */
  missingUnit(): void {
    this.#units++;
    this.#missing++;
  }

  unit(bytes: Uint8Array): void {
    const { syntax, unitBytesMax } = this.#config;
    if (syntax === undefined || bytes.length > UNIT_BYTES_MAX) {
      this.uncheckedUnit(bytes.length);
      return;
    }
    this.#units++;
    const { blocks, restBytes } = blocksIn(bytes, syntax);
    this.#blocks += Math.max(1, blocks);
    this.#most = Math.max(this.#most, blocks);
    if (restBytes === 0) return;
    this.#unreadable++;
    this.#unreadableBytes(restBytes, unitBytesMax);
  }

  #unreadableBytes(bytes: number, unitBytesMax: number): void {
    this.#extraBlocks += Math.ceil(bytes / unitBytesMax) - 1;
    this.#extraSeconds += Math.max(0, secondsAtMost('AAC', bytes) - this.#config.seconds);
  }
}

/** Blocks with sound in a unit, and the bytes from where on it cannot be read. */
function blocksIn(unit: Uint8Array, syntax: AacSyntax): { blocks: number; restBytes: number } {
  let blocks = 0;
  let at = 0;
  while (at < unit.length) {
    // A decoder takes a frame of ADTS inside a unit as well.
    if (adtsFrame(unit, at) !== undefined) at += adtsHeadBytes(unit, at);
    try {
      const { bytes, hasSound } = rawDataBlock(unit.subarray(at), syntax);
      if (hasSound) blocks++;
      at += bytes;
    } catch (error) {
      if (!(error instanceof AacSyntaxError)) throw error;
      return { blocks, restBytes: unit.length - at };
    }
    // Zeros at the end are padding.
    if (unit[at] === 0 && unit.subarray(at).every((byte) => byte === 0)) break;
  }
  return { blocks, restBytes: 0 };
}
