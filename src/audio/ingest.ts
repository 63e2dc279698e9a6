// From a client's bytes to samples on the tape, and what is to be heard in them. Chunks may end in the middle of a sample.
import { BYTES_PER_SAMPLE } from '../api/linear16.ts';
import type { RawEncoding } from '../api/listen.ts';
import { bytesPerSample, decode } from './pcm.ts';
import { BLOCK_SAMPLES } from './tape/blocks.ts';
import type { Tape } from './tape/tape.ts';
import type { SpeechMeter } from './voice/energy.ts';

/** What became of a client's bytes. `unsupported`: of some of them, or none, and `fault` says why nothing more can be taken. */
export type Taken = 'accepted' | 'backlog_exceeded' | 'unsupported';

/** Puts a client's bytes on the tape as samples. */
export interface SampleSource {
  /** Bytes taken, in the client's encoding. */
  readonly receivedBytes: number;
  /** More can be decoded of what was taken: `take` of no bytes goes on with it. */
  readonly isDecoding: boolean;
  /** Pieces that were damaged, and passed over. */
  readonly damaged: number;
  /** Why nothing more can be taken, for the client. */
  readonly fault: string | undefined;
  /** Bytes that may come before so many samples are there. */
  bytesBefore(samples: number): number;
  take(bytes: Uint8Array): Taken;
  /** No more bytes will come. Gives how many of them became no sample. */
  end(): number;
  /** Lets go of what it holds besides the tape. */
  dispose(): void;
}

/** Of bytes that are samples, each by itself. */
export class Ingest implements SampleSource {
  readonly #encoding: RawEncoding;
  readonly #tape: Tape;
  readonly #meter: SpeechMeter;
  /** The first byte of a sample whose second has not come yet. */
  readonly #oddByte = new Uint8Array(BYTES_PER_SAMPLE);
  #hasOddByte = false;
  receivedBytes = 0;
  readonly isDecoding = false;
  readonly damaged = 0;
  readonly fault = undefined;

  constructor(encoding: RawEncoding, tape: Tape, meter: SpeechMeter) {
    this.#encoding = encoding;
    this.#tape = tape;
    this.#meter = meter;
  }

  bytesBefore(samples: number): number {
    return samples * bytesPerSample(this.#encoding) - (this.#hasOddByte ? 1 : 0);
  }

  /** Takes a copy of the bytes; nothing of them where there is no room. */
  take(bytes: Uint8Array): Taken {
    const width = bytesPerSample(this.#encoding);
    const odd = this.#hasOddByte ? 1 : 0;
    const samples = Math.floor((bytes.length + odd) / width);
    if (!this.#tape.hasRoom(samples)) return 'backlog_exceeded';
    this.receivedBytes += bytes.length;
    let at = 0;
    if (odd === 1 && samples > 0) {
      this.#oddByte[1] = bytes[0]!;
      this.#hasOddByte = false;
      this.#write(this.#oddByte, 0, 1);
      at = 1;
    }
    const whole = Math.floor((bytes.length - at) / width);
    this.#write(bytes, at, whole);
    at += whole * width;
    if (at < bytes.length) {
      this.#oddByte[0] = bytes[at]!;
      this.#hasOddByte = true;
    }
    return 'accepted';
  }

  end(): number {
    return this.#hasOddByte ? 1 : 0;
  }

  dispose(): void {}

  /** Writes `count` samples, encoded in `bytes` from `at` on, to the tape. */
  #write(bytes: Uint8Array, at: number, count: number): void {
    const width = bytesPerSample(this.#encoding);
    for (let done = 0; done < count; ) {
      const block = this.#tape.writable();
      const offset = this.#tape.received % BLOCK_SAMPLES;
      const piece = Math.min(count - done, BLOCK_SAMPLES - offset);
      decode(this.#encoding, bytes, at + done * width, piece, block, offset);
      this.#meter.take(block.samples, offset, offset + piece);
      this.#tape.commit(piece);
      done += piece;
    }
  }
}
