// Suspects two interleaved channels that are sent as one, by the first second that is loud enough. One voice on both channels makes
// pairs of alike samples; different ones make every second sample more alike than neighbours are, which no single channel does.

/** An even number: every block begins with the same channel. */
const BLOCK_SAMPLES = 1_024;
const LOUD_BLOCKS = 16;
const SUSPECT_BLOCKS = 12;
/** After so much that is not loud nobody looks any more. */
const BLOCKS_MAX = 2_000;
/** Root of the mean square. */
const LOUD_AMPLITUDE = 100;
/** In a single channel neither differs between even and odd samples: how far neighbours are apart, and how loud they are. */
const PAIRED = 0.25;
const LOUDER = 0.6;
/** Of the neighbours: where fewer differ, it is no sound that was recorded. */
const CHANGES_MIN = 0.25;

/** Looks until it has seen enough, and holds one block at most until then. */
export class ChannelWatch {
  #block: Int16Array | undefined = new Int16Array(BLOCK_SAMPLES);
  #filled = 0;
  #low: number | undefined;
  #blocks = 0;
  #loud = 0;
  #suspect = 0;

  /** Takes linear16 in pieces of any length. True once, when it is suspicious. */
  note(bytes: Uint8Array): boolean {
    for (let at = 0; this.#block !== undefined && at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (this.#low === undefined) {
        this.#low = byte;
        continue;
      }
      this.#block[this.#filled++] = this.#low | (byte << 8);
      this.#low = undefined;
      if (this.#filled === BLOCK_SAMPLES && this.#judge(this.#block)) return true;
    }
    return false;
  }

  #judge(block: Int16Array): boolean {
    this.#filled = 0;
    this.#blocks++;
    const isSuspect = looksInterleaved(block);
    if (isSuspect !== undefined) this.#loud++;
    if (isSuspect === true) this.#suspect++;
    if (this.#loud === LOUD_BLOCKS || this.#blocks === BLOCKS_MAX) this.#block = undefined;
    return this.#loud === LOUD_BLOCKS && this.#suspect >= SUSPECT_BLOCKS;
  }
}

/** Undefined where it is too quiet to tell. */
function looksInterleaved(block: Int16Array): boolean | undefined {
  const mean = block.reduce((sum, sample) => sum + sample, 0) / block.length;
  const energy: Pair = [0, 0];
  /** Of the differences between the samples of a pair, and between pairs. */
  const apart: Pair = [0, 0];
  let changes = 0;
  let next = 0;
  let overnext = 0;
  for (let at = 0; at + 2 < block.length; at++) {
    const parity = (at % 2) as 0 | 1;
    const here = (block[at] as number) - mean;
    const second = (block[at + 1] as number) - mean;
    energy[parity] += here * here;
    apart[parity] += (second - here) ** 2;
    if (second !== here) changes++;
    next += here * second;
    overnext += here * ((block[at + 2] as number) - mean);
  }
  const whole = energy[0] + energy[1];
  if (whole < block.length * LOUD_AMPLITUDE ** 2) return undefined;
  // A tone made of plain steps may take each of them at an even sample.
  if (changes < block.length * CHANGES_MIN) return false;
  const isUneven = areApart(apart, PAIRED) || areApart(energy, LOUDER);
  return overnext > 0.3 * whole && (isUneven || (Math.abs(next) < 0.3 * whole && overnext > 0.6 * whole));
}

type Pair = [even: number, odd: number];

const areApart = ([even, odd]: Pair, ratio: number): boolean => even < ratio * odd || odd < ratio * even;
