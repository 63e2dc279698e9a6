// How a file's length is measured: a pure scan requests pieces of the file, its caller reads them and bounds how much, and the result
// is the audio that was counted. Money is held by it, so a forged header must not make it too small.

/** Some bytes of the file. */
export interface Piece {
  at: number;
  length: number;
}

/** Asks for pieces, each of which may come back shorter, at the end of the file. They are not kept: the next takes their place. */
export type Scan<T> = Generator<Piece, T, Uint8Array>;

const BLOCK_BYTES = 64 * 1024;

/** Hands on every byte of a part of the file. */
export function* everyByte({ from, to }: { from: number; to: number }, push: (bytes: Uint8Array) => void): Scan<void> {
  for (let at = from; at < to; ) {
    const bytes: Uint8Array = yield { at, length: Math.min(BLOCK_BYTES, to - at) };
    if (bytes.length === 0) return;
    push(bytes);
    at += bytes.length;
  }
}

/** What counting a file's packets, frames or samples gave. */
export interface MeasuredAudio {
  /** What decoders play of it: charged where a provider does not report a duration. */
  seconds: number;
  /**
   * Seconds that the audio holds at most, the sum over chained or concatenated parts: held, and the bound of what a provider may
   * report. No less than `seconds`.
   */
  secondsMax: number;
  /** The least that it holds, where that is less: what was counted, when a header says more. */
  secondsMin?: number;
  /** 1 when the format does not say. */
  channels: number;
  /** The file is cut off, or some of it cannot be read. */
  isDamaged?: boolean;
  /** Nothing was counted, since the coding is unknown: `seconds` is what the file says of itself, and the rest means nothing. */
  isStated?: true;
  /** The file has pictures too, so its size says nothing of its sound. */
  hasVideo?: boolean;
}

/** Of a file in an unknown coding. */
export const statedOnly = (seconds: number): MeasuredAudio | undefined =>
  Number.isFinite(seconds) && seconds > 0 ? { seconds, secondsMax: seconds, channels: 1, isStated: true } : undefined;

/**
 * Bytes that a second takes at least, by the names of `fileKindOf`: AAC and WMA at 4 kbit/s, MP3 and MP2 at 8 kbit/s; frames of AMR
 * without data; packets of 120 ms of silence, as Opus makes them, with what their container needs for each; the thinnest codecs of
 * telephony in files of samples.
 */
const BYTES_PER_SECOND_MIN: Readonly<Record<string, number>> = {
  AAC: 500,
  AMR: 50,
  WMA: 500,
  MP3: 1_000,
  MP2: 1_000,
  AIFF: 1_000,
  AU: 1_000,
  CAF: 1_000,
  Wave64: 1_000,
  'WAV (big-endian)': 1_000,
  Ogg: 25,
  MP4: 16,
  'WebM or Matroska': 16,
};
/** For an unknown codec, and for FLAC, whose silence takes nearly nothing: 65,535 samples in 14 bytes at 16 kHz. */
const BYTES_PER_SECOND_OTHERWISE = 3;

/** The most seconds that a file of so many bytes can hold, whatever is in it. */
export const secondsAtMost = (container: string | undefined, sizeBytes: number): number =>
  sizeBytes / (BYTES_PER_SECOND_MIN[container ?? ''] ?? BYTES_PER_SECOND_OTHERWISE);

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

export const textAt = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length));
