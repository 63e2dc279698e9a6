// How much MPEG audio (MP3 and its kin, AAC in ADTS) some bytes hold at most, frame by frame: what a header claims of the whole
// is not asked. Where a decoder begins, and how it goes on after damage, is its own affair, so what counts is the longest row of
// frames that do not overlap, wherever it begins.
import { KINDS, type MpegFrame, mpegFrame } from './mpeg-frame.ts';

/** More than a frame has, and a power of two. */
const RING = 8_192;
/** Of an ADTS header. */
const HEAD_BYTES = 7;
/** A frame alone is an accident of other bytes: in a stream one of its kind ends so near in front of it. */
const NEAR_BYTES = 1_024;
/** Header and side information of a frame whose length is not told. */
const UNTOLD_BYTES = 13;
/** Frames that follow each other over so much of the bytes leave no room for another row. */
const GAPLESS = 0.999;
/** By chance bytes inside frames look like frames: they make the longest row a little longer than what is played. */
const CHANCE = 1.1;

export interface MpegLength {
  /** Of the frames that follow each other from the first one on, which is what decoders play. */
  seconds: number;
  /** Of the longest row: the same as `seconds`, where that row is much longer and a decoder may find it. */
  secondsMax: number;
  /** Of the frames that `seconds` counts. */
  bytes: number;
}

/** Counts the frames of a stream of bytes. */
export class MpegFrames {
  /** By position, modulo its length: seconds, and bytes of their frames, of the longest row that ends there. */
  readonly #seconds = new Float64Array(RING);
  readonly #bytes = new Float64Array(RING);
  readonly #frameAt: typeof mpegFrame;
  /** Where the frame of a kind ends that began last. */
  readonly #endOf = new Float64Array(KINDS).fill(Number.NEGATIVE_INFINITY);
  /** Seconds of that frame, where it was alone until then. */
  readonly #owed = new Float64Array(KINDS);
  #at = 0;
  /** The frames that are played: where the last one ends. */
  #playedTo = 0;
  #playedSeconds = 0;
  #playedBytes = 0;
  /** Of the frames that are played; -1 where they differ. */
  #playedKind: number | undefined;
  #best = 0;
  #bestBytes = 0;
  #carried: Uint8Array = new Uint8Array(0);
  /** Of the first frame that has another beside it. */
  channels = 0;
  frameSeconds = 0;

  /** @param frameAt how a frame is told: those of MPEG audio, unless said otherwise */
  constructor(frameAt: (bytes: Uint8Array, at: number) => MpegFrame | undefined = mpegFrame) {
    this.#frameAt = frameAt;
  }

  push(chunk: Uint8Array): void {
    const bytes = joined(this.#carried, chunk);
    this.#count(bytes, bytes.length - HEAD_BYTES);
    this.#carried = bytes.slice(Math.max(0, bytes.length - HEAD_BYTES));
  }

  /** What was found, with the frame that the end may have cut off. */
  end(): MpegLength {
    this.#count(this.#carried, this.#carried.length);
    this.#carried = new Uint8Array(0);
    for (let place = 0; place < RING; place++) this.#arrive(place);
    // A decoder that has begun with such frames finds the next where the last one ends, whatever is inside of them.
    const isGapless = this.#playedKind !== -1 && this.#playedBytes >= this.#at * GAPLESS;
    const secondsMax = isGapless ? this.#playedSeconds : Math.max(this.#best, this.#playedSeconds);
    return secondsMax > this.#playedSeconds * CHANCE
      ? { seconds: secondsMax, secondsMax, bytes: this.#bestBytes }
      : { seconds: this.#playedSeconds, secondsMax, bytes: this.#playedBytes };
  }

  #count(bytes: Uint8Array, end: number): void {
    for (let i = 0; i < end; i++, this.#at++) {
      this.#arrive(this.#at % RING);
      if (bytes[i] === 0xff && bytes[i + 1]! >= 0xe0) this.#look(bytes, i);
    }
  }

  /** A row that ends here is what others go on from. */
  #arrive(place: number): void {
    const seconds = this.#seconds[place]!;
    if (seconds === 0) return;
    this.#seconds[place] = 0;
    if (seconds <= this.#best) return;
    this.#best = seconds;
    this.#bestBytes = this.#bytes[place]!;
  }

  #look(bytes: Uint8Array, i: number): void {
    const frame = this.#frameAt(bytes, i);
    if (frame === undefined) return;
    const length = frame.bytes || UNTOLD_BYTES;
    const isStream = this.#at - this.#endOf[frame.kind]! <= NEAR_BYTES;
    this.#endOf[frame.kind] = this.#at + length;
    if (this.#at === this.#playedTo || (this.#at > this.#playedTo && isStream)) {
      // The one before was alone until now.
      const isFirst = this.#at > this.#playedTo;
      this.#playedSeconds += frame.seconds + (isFirst ? this.#owed[frame.kind]! : 0);
      this.#playedBytes += length + (isFirst && this.#owed[frame.kind]! > 0 ? length : 0);
      this.#playedTo = this.#at + length;
      this.#playedKind = this.#playedKind === undefined || this.#playedKind === frame.kind ? frame.kind : -1;
    }
    if (!isStream) {
      this.#owed[frame.kind] = frame.seconds;
      return;
    }
    this.channels ||= frame.channels;
    this.frameSeconds ||= frame.seconds;
    const place = (this.#at + length) % RING;
    const seconds = this.#best + frame.seconds + this.#owed[frame.kind]!;
    this.#owed[frame.kind] = 0;
    if (seconds <= this.#seconds[place]!) return;
    this.#seconds[place] = seconds;
    this.#bytes[place] = this.#bestBytes + length;
  }
}

/** Two that follow one another. */
export function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other;
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
