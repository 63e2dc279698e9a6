// A live stream in a container that its client did not declare: its first bytes say which one it is, and may come one by one.

import { ApiError } from '../../api/errors.ts';
import type { OpusDecoder } from '../codecs/opus-decoder.ts';
import { sniffContainer } from '../containers/detection.ts';
import { WavReader } from '../containers/wav.ts';
import { PcmConverter } from '../resampler.ts';
import { HeldBytes } from './held-bytes.ts';
import { OpusStream } from './opus-stream.ts';
import { type SoundStream, UnsupportedStream } from './sound-stream.ts';

/** Every container is recognised by so many bytes. */
const MAGIC_BYTES = 12;
const NOTHING = new Float32Array(0);
const ACCEPTED =
  'Live audio in a container is WebM or Ogg with Opus, or WAV. Send other files to /v1/audio/transcriptions.';
const UNKNOWN =
  'The first bytes are not those of WebM, Ogg or WAV. Send the stream from its first byte: only the first piece of a recording has the header. Of audio without a container declare the encoding and the sample rate.';

export class RecognisedStream implements SoundStream {
  readonly #decoder: OpusDecoder;
  readonly #sampleRate: number;
  #beginning = new Uint8Array(0);
  #stream: SoundStream | undefined;

  constructor(decoder: OpusDecoder, sampleRate: number) {
    this.#decoder = decoder;
    this.#sampleRate = sampleRate;
  }

  get heldBytes(): number {
    return this.#stream?.heldBytes ?? this.#beginning.length;
  }

  get damaged(): number {
    return this.#stream?.damaged ?? 0;
  }

  push(bytes: Uint8Array): void {
    if (this.#stream === undefined) this.#beginning = Buffer.concat([this.#beginning, bytes]);
    else this.#stream.push(bytes);
  }

  next(): Float32Array | undefined {
    this.#stream ??= this.#recognised();
    return this.#stream?.next();
  }

  end(): Float32Array {
    return this.#stream?.end() ?? NOTHING;
  }

  #recognised(): SoundStream | undefined {
    const beginning = this.#beginning;
    const name = sniffContainer(beginning);
    if (name === undefined && beginning.length < MAGIC_BYTES) return undefined;
    const stream = this.#streamOf(name);
    stream.push(beginning);
    this.#beginning = new Uint8Array(0);
    return stream;
  }

  #streamOf(name: string | undefined): SoundStream {
    switch (name) {
      case 'WebM or Matroska':
        return new OpusStream('webm-opus', this.#decoder, this.#sampleRate);
      case 'Ogg':
        return new OpusStream('ogg-opus', this.#decoder, this.#sampleRate);
      case 'WAV':
      case 'WAV (64-bit)':
        return new WavStream(this.#sampleRate);
      default:
        throw new UnsupportedStream(name === undefined ? UNKNOWN : `The audio is ${name}. ${ACCEPTED}`);
    }
  }
}

/** One byte a sample at 8 kHz is six samples at 48 kHz: less than the longest packet of Opus. */
const PIECE_BYTES = 512;
const SAMPLE_RATE_MIN = 8_000;
const FULL_SCALE = 32_768;

/**
 * WAV: the header, then samples that are converted to the rate of the session as they come. The size in the header is not used: a live
 * sender writes it before it knows how long the stream is.
 */
class WavStream implements SoundStream {
  readonly damaged = 0;
  readonly #held = new HeldBytes();
  readonly #reader = new WavReader({ isEndless: true });
  readonly #sampleRate: number;
  #converter: PcmConverter | undefined;
  #sound = new Float32Array(0);

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  get heldBytes(): number {
    return this.#held.length;
  }

  push(bytes: Uint8Array): void {
    this.#held.push(bytes);
  }

  next(): Float32Array | undefined {
    const piece = this.#held.view(0, PIECE_BYTES);
    if (piece.length === 0) return undefined;
    const samples = this.#read(piece);
    const sound = this.#soundOf(this.#converterFor(samples)?.push(samples) ?? samples);
    this.#held.skip(piece.length);
    return sound;
  }

  end(): Float32Array {
    return this.#soundOf(this.#converter?.end() ?? new Int16Array(0));
  }

  #read(bytes: Uint8Array): Int16Array {
    try {
      return this.#reader.push(bytes);
    } catch (error) {
      if (error instanceof ApiError) throw new UnsupportedStream(error.message);
      throw error;
    }
  }

  #converterFor({ length }: Int16Array): PcmConverter | undefined {
    const rate = this.#reader.format?.sampleRate;
    if (this.#converter !== undefined || rate === undefined || length === 0) return this.#converter;
    if (rate < SAMPLE_RATE_MIN)
      throw new UnsupportedStream(`The WAV stream has a sample rate of ${rate}. Send at least ${SAMPLE_RATE_MIN} Hz.`);
    this.#converter = new PcmConverter(rate, this.#sampleRate);
    return this.#converter;
  }

  #soundOf(samples: Int16Array): Float32Array {
    if (this.#sound.length < samples.length) this.#sound = new Float32Array(samples.length);
    for (let at = 0; at < samples.length; at++) this.#sound[at] = samples[at]! / FULL_SCALE;
    return this.#sound.subarray(0, samples.length);
  }
}
