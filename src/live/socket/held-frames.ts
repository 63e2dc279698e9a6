// What a client sends before its session can take it, kept in its order: audio in blocks of a spool, messages by their place in it.
import { BLOCK_BYTES } from '../../audio/tape/blocks.ts';
import type { Spool, SpoolShortage } from '../../audio/tape/spool.ts';
import type { Decoded } from './client-message.ts';
import type { Steps } from './socket-work.ts';

/** As much as the longest message of a client may be. */
export const HELD_BYTES_MAX = 64 * 1024 * 1024;
export const HELD_TEXTS_MAX = 100;

export interface FrameTaker {
  audio(bytes: Uint8Array): void;
  text(decoded: Decoded): void;
}

export class HeldFrames {
  readonly #openSpool: () => Spool;
  #spool: Spool | undefined;
  /** The audio that fills no block yet. */
  #block: Uint8Array | undefined;
  #bytes = 0;
  readonly #texts: { at: number; decoded: Decoded }[] = [];

  constructor(openSpool: () => Spool) {
    this.#openSpool = openSpool;
  }

  get hasAudio(): boolean {
    return this.#bytes > 0;
  }

  /** Why the last audio was refused; undefined where it is more than `HELD_BYTES_MAX`. */
  get shortage(): SpoolShortage | undefined {
    return this.#spool?.shortage;
  }

  /** False when there is no room for it: then some of it may be kept, and the whole is of no use. */
  audio(bytes: Uint8Array): boolean {
    if (this.#bytes + bytes.byteLength > HELD_BYTES_MAX) return false;
    for (let at = 0; at < bytes.byteLength; ) {
      this.#block ??= new Uint8Array(BLOCK_BYTES);
      const filled = this.#bytes % BLOCK_BYTES;
      const piece = bytes.subarray(at, at + BLOCK_BYTES - filled);
      this.#block.set(piece, filled);
      at += piece.byteLength;
      this.#bytes += piece.byteLength;
      if (this.#bytes % BLOCK_BYTES > 0) continue;
      this.#spool ??= this.#openSpool();
      if (!this.#spool.put(this.#block)) return false;
    }
    return true;
  }

  /** False when there are too many. */
  text(decoded: Decoded): boolean {
    return this.#texts.length < HELD_TEXTS_MAX && this.#texts.push({ at: this.#bytes, decoded }) > 0;
  }

  /** Hands everything over, once, a piece of audio at each step. Throws when audio cannot be read back. */
  *handOver(to: FrameTaker): Steps {
    try {
      const tail = this.#block?.slice(0, this.#bytes % BLOCK_BYTES);
      let at = 0;
      for (let left = this.#spool?.length ?? 0; left > 0; left--) {
        this.#spool?.take(this.#block as Uint8Array);
        at = yield* this.#handOverPiece(to, this.#block as Uint8Array, at);
      }
      yield* this.#handOverPiece(to, tail ?? new Uint8Array(0), at);
      for (const { decoded } of this.#texts.splice(0)) to.text(decoded);
    } finally {
      this.dispose();
    }
  }

  /** Forgets everything. */
  dispose(): void {
    this.#spool?.close();
    this.#spool = undefined;
    this.#block = undefined;
    this.#bytes = 0;
    this.#texts.length = 0;
  }

  /** The audio from that place on, with the messages that came before its end. Gives where it ends. */
  *#handOverPiece(to: FrameTaker, piece: Uint8Array, at: number): Generator<number, number> {
    const handed = (from: number, until: number): number => {
      to.audio(piece.subarray(from, until));
      return until - from;
    };
    let done = 0;
    for (let next = this.#texts[0]; next !== undefined && next.at < at + piece.byteLength; next = this.#texts[0]) {
      if (next.at > at + done) yield handed(done, next.at - at);
      done = next.at - at;
      to.text(next.decoded);
      this.#texts.shift();
    }
    if (done < piece.byteLength) yield handed(done, piece.byteLength);
    return at + piece.byteLength;
  }
}
