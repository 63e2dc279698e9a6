// From a client's bytes to samples on the tape, and what is audible in them. Chunks may end in the middle of a sample. Opus and
// containers are decoded in steps, because a few bytes may be a long sound.
import { BYTES_PER_SAMPLE } from '../api/audio-formats.ts';
import { type CodedEncoding, type Encoding, isCoded, type RawEncoding } from '../api/listen.ts';
import { type OpusDecoder, PACKET_SAMPLES_MAX } from './codecs/opus-decoder.ts';
import { bytesPerSample, decode, toSample } from './pcm.ts';
import { OpusStream } from './streams/opus-stream.ts';
import { RecognisedStream } from './streams/recognised-stream.ts';
import { type SoundStream, UnsupportedStream } from './streams/sound-stream.ts';
import { BLOCK_SAMPLES } from './tape/blocks.ts';
import type { Tape } from './tape/tape.ts';
import type { SpeechMeter } from './voice/energy.ts';

/** What became of a client's bytes. `unsupported`: of some of them, or none, and `fault` says why nothing more can be taken. */
export type Taken = 'accepted' | 'backlog_exceeded' | 'unsupported';

/** Puts a client's bytes on the tape as samples. */
export interface SampleSource {
  /** Bytes taken, in the client's encoding. */
  readonly receivedBytes: number;
  /** More can be decoded of what was taken: `take` of no bytes continues with it. */
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
  /** Releases what it holds besides the tape. */
  dispose(): void;
}

/** Of bytes that are samples, each on its own. */
class Ingest implements SampleSource {
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

/** Sound that is decoded at a time. */
const STEP_MS = 1_000;
/** What a piece without sound counts: it takes time as well. */
const PIECE_MS_MIN = 5;
/** Bytes that wait to be decoded; whoever hands over more has not asked for the steps between. */
const HELD_BYTES_MAX = 1_048_576;
const FULL_SCALE = 32_768;

interface SourceOptions {
  sampleRate: number;
  encoding: Encoding;
  /** For Opus, which cannot do without. */
  decoder?: OpusDecoder | undefined;
}

/** What takes audio of this encoding. */
export function sourceOf(
  { encoding, decoder, sampleRate }: SourceOptions,
  tape: Tape,
  meter: SpeechMeter,
): SampleSource {
  if (!isCoded(encoding)) return new Ingest(encoding, tape, meter);
  if (decoder === undefined) throw new Error(`There is no decoder for ${encoding}.`);
  return new CodedIngest(encoding, decoder, sampleRate, tape, meter);
}

class CodedIngest implements SampleSource {
  readonly #stream: SoundStream;
  readonly #decoder: OpusDecoder;
  readonly #tape: Tape;
  readonly #meter: SpeechMeter;
  readonly #samplesPerMs: number;
  receivedBytes = 0;
  isDecoding = false;
  fault: string | undefined;

  constructor(encoding: CodedEncoding, decoder: OpusDecoder, sampleRate: number, tape: Tape, meter: SpeechMeter) {
    this.#stream =
      encoding === 'auto' ? new RecognisedStream(decoder, sampleRate) : new OpusStream(encoding, decoder, sampleRate);
    this.#decoder = decoder;
    this.#tape = tape;
    this.#meter = meter;
    this.#samplesPerMs = sampleRate / 1000;
  }

  get damaged(): number {
    return this.#stream.damaged;
  }

  /** What is coded tells its length when it is decoded: nothing waits. */
  bytesBefore(): number {
    return 0;
  }

  take(bytes: Uint8Array): Taken {
    if (this.#stream.heldBytes + bytes.length > HELD_BYTES_MAX) return 'backlog_exceeded';
    this.receivedBytes += bytes.length;
    if (bytes.length > 0) this.#stream.push(bytes);
    try {
      return this.#step();
    } catch (error) {
      if (!(error instanceof UnsupportedStream)) throw error;
      this.fault = error.message;
      this.isDecoding = false;
      return 'unsupported';
    }
  }

  end(): number {
    const { heldBytes } = this.#stream;
    if (this.#tape.hasRoom(PACKET_SAMPLES_MAX)) this.#write(this.#stream.end());
    this.dispose();
    return heldBytes;
  }

  dispose(): void {
    this.isDecoding = false;
    this.#decoder.free();
  }

  #step(): Taken {
    this.isDecoding = false;
    for (let left = STEP_MS * this.#samplesPerMs; left > 0; ) {
      if (!this.#tape.hasRoom(PACKET_SAMPLES_MAX)) return 'backlog_exceeded';
      const samples = this.#stream.next();
      if (samples === undefined) return 'accepted';
      this.#write(samples);
      left -= Math.max(samples.length, PIECE_MS_MIN * this.#samplesPerMs);
    }
    this.isDecoding = true;
    return 'accepted';
  }

  #write(samples: Float32Array): void {
    for (let done = 0; done < samples.length; ) {
      const block = this.#tape.writable();
      const offset = this.#tape.received % BLOCK_SAMPLES;
      const piece = Math.min(samples.length - done, BLOCK_SAMPLES - offset);
      for (let at = 0; at < piece; at++) block.samples[offset + at] = toSample(samples[done + at]! * FULL_SCALE);
      this.#meter.take(block.samples, offset, offset + piece);
      this.#tape.commit(piece);
      done += piece;
    }
  }
}
