// Bytes of a stream as frames of samples, at the rate of the recogniser, and the newest of them before a turn.
import { PcmConverter } from '../../audio/resampler.ts';
import { SAMPLE_RATE } from '../protocol.ts';
import { FRAME_SAMPLES } from './voice-detector.ts';

export const samplesOf = (ms: number): number => Math.round((ms * SAMPLE_RATE) / 1000);
/** With three decimals. */
export const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;
export const secondsOf = (samples: number): number => rounded(samples / SAMPLE_RATE);

/** Cuts linear16 bytes into frames of `FRAME_SAMPLES`, each a new array from -1 to 1. */
export class FrameCutter {
  readonly #onFrame: (frame: Float32Array) => void;
  readonly #converter: PcmConverter | undefined;
  #frame = new Float32Array(FRAME_SAMPLES);
  #samples = 0;
  #oddByte: number | undefined;

  /** @param sampleRate of the bytes */
  constructor(onFrame: (frame: Float32Array) => void, sampleRate = SAMPLE_RATE) {
    this.#onFrame = onFrame;
    this.#converter = sampleRate === SAMPLE_RATE ? undefined : new PcmConverter(sampleRate, SAMPLE_RATE);
  }

  /** Samples of the frame that is not full yet. */
  get pending(): number {
    return this.#samples;
  }

  /** @param bytes cut anywhere */
  push(bytes: Uint8Array): void {
    const given = this.#converter === undefined ? undefined : new Int16Array((bytes.length + 1) >> 1);
    let count = 0;
    for (const byte of bytes) {
      if (this.#oddByte === undefined) {
        this.#oddByte = byte;
        continue;
      }
      const sample = ((byte << 24) >> 16) | this.#oddByte;
      this.#oddByte = undefined;
      if (given === undefined) this.#add(sample);
      else given[count++] = sample;
    }
    if (this.#converter === undefined || given === undefined) return;
    for (const sample of this.#converter.push(given.subarray(0, count))) this.#add(sample);
  }

  /** Fills the last frame up with silence. */
  end(): void {
    for (const sample of this.#converter?.end() ?? []) this.#add(sample);
    while (this.#samples > 0) this.#add(0);
  }

  #add(sample: number): void {
    this.#frame[this.#samples] = sample / 32_768;
    this.#samples++;
    if (this.#samples < FRAME_SAMPLES) return;
    const frame = this.#frame;
    this.#frame = new Float32Array(FRAME_SAMPLES);
    this.#samples = 0;
    this.#onFrame(frame);
  }
}
