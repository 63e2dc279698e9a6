// The audio of one turn, as it grows.
import { FRAME_SAMPLES } from './voice-detector.ts';

const FIRST_SAMPLES = 16_000;
/** A place to cut is as quiet as so many frames in a row are. */
const CUT_FRAMES = 3;

export class TurnAudio {
  /** Position of its first sample in the stream. */
  readonly start: number;
  #samples = new Float32Array(FIRST_SAMPLES);
  #length = 0;

  constructor(start: number) {
    this.start = start;
  }

  get length(): number {
    return this.#length;
  }

  /** Position in the stream behind its last sample. */
  get end(): number {
    return this.start + this.#length;
  }

  add(samples: Float32Array): void {
    const length = this.#length + samples.length;
    if (length > this.#samples.length) {
      const larger = new Float32Array(Math.max(length, 2 * this.#samples.length));
      larger.set(this.#samples);
      this.#samples = larger;
    }
    this.#samples.set(samples, this.#length);
    this.#length = length;
  }

  /** A copy of its samples, by place in the turn. */
  copy(from = 0, to = this.#length): Float32Array {
    return this.#samples.slice(from, Math.min(to, this.#length));
  }

  /** The middle of the quietest frames between two places of the turn, the later where several are. */
  quietest(from: number, to: number): number {
    let least = Number.POSITIVE_INFINITY;
    let place = to;
    const width = CUT_FRAMES * FRAME_SAMPLES;
    for (let at = Math.max(0, from); at + width <= Math.min(to, this.#length); at += FRAME_SAMPLES) {
      let power = 0;
      for (let sample = at; sample < at + width; sample++) power += this.#samples[sample]! ** 2;
      if (power > least) continue;
      least = power;
      place = at + width / 2;
    }
    return place;
  }
}
