// What a thread that decodes a file is told, and what it says. They take turns: whoever has spoken waits for the other.

/** What can be decoded, by the formats of files. */
export type Decoded = 'mp3' | 'flac' | 'ogg' | 'webm';

export interface DecodingStart {
  format: Decoded;
}

export type ToThread =
  /** Answers `needs`. The bytes are handed over; undefined at the end of the file. */
  | { type: 'bytes'; bytes: Uint8Array<ArrayBuffer> | undefined }
  /** Answers `samples`. */
  | { type: 'more' };

export type FromThread =
  | { type: 'needs' }
  /** One channel; handed over. */
  | { type: 'samples'; samples: Int16Array<ArrayBuffer>; sampleRate: number }
  /** The last of all. */
  | { type: 'ended'; isDamaged: boolean }
  /** The last of all: why there is no sound, as it goes on behind "cannot be decoded: ". */
  | { type: 'undecodable'; why: string };

/** Handed over at a time. */
export const BLOCK_BYTES = 64 * 1024;
