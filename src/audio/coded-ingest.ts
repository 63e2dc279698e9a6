// From packets of Opus, or a container, to samples on the tape. It decodes by steps, because a few bytes may be a long sound.
import { type CodedEncoding, type Encoding, isCoded } from '../api/listen.ts';
import { Ingest, type SampleSource, type Taken } from './ingest.ts';
import { type OpusDecoder, PACKET_SAMPLES_MAX } from './opus/opus-decoders.ts';
import { OpusStream } from './opus/opus-stream.ts';
import { UnsupportedStream } from './opus/packet-source.ts';
import type { SoundStream } from './opus/sound-stream.ts';
import { toSample } from './pcm.ts';
import { RecognisedStream } from './recognised-stream.ts';
import { BLOCK_SAMPLES } from './tape/blocks.ts';
import type { Tape } from './tape/tape.ts';
import type { SpeechMeter } from './voice/energy.ts';

/** Sound that is decoded at a time. */
const STEP_MS = 1_000;
/** What a piece without sound counts: it takes time as well. */
const PIECE_MS_MIN = 5;
/** Bytes that wait to be decoded; whoever hands over more has not asked for the steps between. */
const HELD_BYTES_MAX = 1_048_576;
const FULL_SCALE = 32_768;

export interface SourceOptions {
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
