// How much sound an AMR file holds: each frame begins with a byte that says how long it is, and is 20 ms. RFC 4867, section 5.
import { everyByte, type MeasuredAudio, type Scan, textAt, viewOf } from '../scan.ts';

const HEAD_BYTES = 19;

export function* amrAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const head: Uint8Array = yield { at: from, length: HEAD_BYTES };
  const [magic = ''] = textAt(head, 0, head.length).split('\n');
  const isSeveral = magic.endsWith('_MC1.0');
  const framesAt = magic.length + 1;
  const channels = isSeveral && head.length >= framesAt + 4 ? viewOf(head).getUint32(framesAt) & 15 : 1;
  const frames = new AmrFrames(magic.startsWith('#!AMR-WB'));
  yield* everyByte({ from: from + framesAt + (isSeveral ? 4 : 0), to: size }, (bytes) => frames.push(bytes));
  // One frame of each channel in turn.
  const seconds = frames.seconds / (channels || 1);
  return seconds > 0 ? { seconds, secondsMax: seconds, channels: channels || 1, isDamaged: frames.isCut } : undefined;
}

const FRAME_SECONDS = 0.02;
/** Bytes of a frame with its first one, by the four bits of its type: speech, comfort noise, and types that have no data. */
const NARROW = [13, 14, 16, 18, 20, 21, 27, 32, 6, 7, 6, 6, 1, 1, 1, 1];
const WIDE = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1];

/** Counts the frames of AMR in a stream of bytes. */
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
