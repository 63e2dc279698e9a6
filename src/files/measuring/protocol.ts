// What a thread that measures files is told, and what it says: bytes go there piece by piece, as they are requested.
import type { MeasuredAudio, Piece } from '../../audio/scan.ts';

export type ToThread =
  /** A piece of a file; a number that the thread does not know is a file that begins. The bytes are handed over. */
  | { type: 'piece'; job: number; sizeBytes: number; at: number; bytes: Uint8Array<ArrayBuffer> }
  /** Nobody waits for it any more. */
  | { type: 'drop'; job: number };

export type FromThread =
  | { type: 'needs'; job: number; piece: Piece }
  /** Undefined: nobody can tell. */
  | { type: 'measured'; job: number; audio: MeasuredAudio | undefined };

/** Handed over at a time, unless one part of the file is larger: about a millisecond of work. */
export const BLOCK_BYTES = 256 * 1024;
