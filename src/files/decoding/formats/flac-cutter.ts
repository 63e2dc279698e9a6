// Cuts a FLAC file into its frames, each of which begins with a head that carries a checksum. RFC 9639, sections 8 and 9.
import { FLAC_HEAD_BYTES_MAX, flacFrameAt, flacInfo } from '../../../audio/length/frames/flac-frames.ts';
import { joined } from '../../../audio/length/frames/mpeg-frames.ts';

const MARK_BYTES = 'fLaC'.length;
const BLOCK_HEAD_BYTES = 4;
/** The first block describes the stream. */
const INFO_BLOCK_BYTES = BLOCK_HEAD_BYTES + 34;
const LAST_BLOCK = 0x80;
/** What is longer is no frame: 65,535 samples of eight channels of 32 bits, and what they need beside. */
const FRAME_BYTES_MAX = 2_200_000;

export class FlacCutter {
  #held: Uint8Array = new Uint8Array(0);
  /** Of what is in front of the frames: so much is passed over before the next block begins. */
  #skip = MARK_BYTES;
  #next: 'first block' | 'block' | 'frames' = 'first block';
  #isBehindBlocks = false;
  /** What is held begins with a frame; the next one is looked for from there on. */
  #isOpen = false;
  #searched = 0;
  /** What the heads of all frames have in common. */
  #like: readonly number[] | undefined;
  /** As the file says; 0 where its writer did not know. */
  samples = 0;

  /** The frames that these bytes complete. */
  *push(bytes: Uint8Array): Generator<Uint8Array> {
    this.#held = joined(this.#held, bytes);
    while (!this.#isBehindBlocks && this.#block());
    if (this.#isBehindBlocks) yield* this.#frames(Math.max(0, this.#held.length - FLAC_HEAD_BYTES_MAX));
  }

  /** The last frame. */
  *end(): Generator<Uint8Array> {
    yield* this.#frames(this.#held.length);
    if (this.#isOpen) yield this.#held;
  }

  /** Passes over one block in front of the frames; false when more bytes are needed, or none is left. */
  #block(): boolean {
    const passed = Math.min(this.#skip, this.#held.length);
    this.#held = this.#held.subarray(passed);
    this.#skip -= passed;
    if (this.#skip > 0) return false;
    if (this.#next === 'frames') {
      this.#isBehindBlocks = true;
      return false;
    }
    const isFirst = this.#next === 'first block';
    if (this.#held.length < (isFirst ? INFO_BLOCK_BYTES : BLOCK_HEAD_BYTES)) return false;
    const [kind = 0, a = 0, b = 0, c = 0] = this.#held;
    if (isFirst) this.samples = flacInfo(this.#held.subarray(BLOCK_HEAD_BYTES))?.samples ?? 0;
    this.#skip = BLOCK_HEAD_BYTES + (a << 16) + (b << 8) + c;
    this.#next = (kind & LAST_BLOCK) === 0 ? 'block' : 'frames';
    return true;
  }

  /** Looks for heads up to a position. */
  *#frames(end: number): Generator<Uint8Array> {
    const held = this.#held;
    let from = 0;
    for (let at = held.indexOf(0xff, this.#searched); at !== -1 && at < end; at = held.indexOf(0xff, at + 1)) {
      if (!this.#isFrame(held, at)) continue;
      if (this.#isOpen) yield held.subarray(from, at);
      this.#isOpen = true;
      from = at;
    }
    if (!this.#isOpen || end - from > FRAME_BYTES_MAX) {
      this.#isOpen = false;
      from = end;
    }
    this.#held = held.subarray(from);
    this.#searched = Math.max(end - from, this.#isOpen ? 1 : 0);
  }

  #isFrame(bytes: Uint8Array, at: number): boolean {
    if (flacFrameAt(bytes, at) === undefined) return false;
    const head = [bytes[at + 1]!, bytes[at + 2]! & 15, bytes[at + 3]! & 15];
    this.#like ??= head;
    return this.#like.every((value, place) => value === head[place]);
  }
}
