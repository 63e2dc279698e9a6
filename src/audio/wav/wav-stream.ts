// A WAV stream that a live client sends: the header, then samples that are converted to the rate of the session as they come. The size
// in the header is not used: a live sender writes it before it knows how long the stream is.
import { Refusal } from '../../api/errors.ts';
import { HeldBytes } from '../opus/held-bytes.ts';
import { UnsupportedStream } from '../opus/packet-source.ts';
import type { SoundStream } from '../opus/sound-stream.ts';
import { PcmConverter } from '../resampler.ts';
import { WavReader } from './wav.ts';

/** One byte a sample at 8 kHz is six samples at 48 kHz: less than the longest packet of Opus. */
const PIECE_BYTES = 512;
const SAMPLE_RATE_MIN = 8_000;
const FULL_SCALE = 32_768;

export class WavStream implements SoundStream {
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
      if (error instanceof Refusal) throw new UnsupportedStream(error.message);
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
