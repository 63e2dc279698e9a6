// How much AMR some bytes hold: each frame begins with a byte that says how long it is, and is 20 ms. RFC 4867, section 5.3.

const FRAME_SECONDS = 0.02;
/** Bytes of a frame with its first one, by the four bits of its type: speech, comfort noise, and types that have no data. */
const NARROW = [13, 14, 16, 18, 20, 21, 27, 32, 6, 7, 6, 6, 1, 1, 1, 1];
const WIDE = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1];

export class AmrFrames {
  readonly #bytesOf: readonly number[];
  #skip = 0;
  #frames = 0;

  constructor(isWide: boolean) {
    this.#bytesOf = isWide ? WIDE : NARROW;
  }

  get seconds(): number {
    return this.#frames * FRAME_SECONDS;
  }

  /** The last frame is cut off. */
  get isCut(): boolean {
    return this.#skip > 0;
  }

  push(bytes: Uint8Array): void {
    let at = this.#skip;
    for (; at < bytes.length; this.#frames++) at += this.#bytesOf[(bytes[at]! >> 3) & 15]!;
    this.#skip = at - bytes.length;
  }
}
