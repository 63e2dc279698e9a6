// The leg's clock beside the provider's: the provider also counts silence that was put in between to keep a connection
// alive, the leg does not.
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';

/** Pauses that are remembered one by one; times before the oldest of them come out early by what was forgotten. */
const PAUSES_MAX = 256;

/** Counts linear16 as it is sent, and turns the provider's times into the leg's. */
export class LegClock {
  readonly #sampleRate: number;
  #audioSamples = 0;
  #silenceSamples = 0;
  /** Silence of pauses no longer remembered. */
  #forgottenSamples = 0;
  /** Where silence was put in, on the leg's clock, in rising order. */
  readonly #pauses: { atSample: number; samples: number }[] = [];

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** Seconds of all that was sent, on the provider's clock. */
  get sentSeconds(): number {
    return (this.#audioSamples + this.#silenceSamples) / this.#sampleRate;
  }

  audio(frame: Uint8Array): void {
    this.#audioSamples += frame.byteLength / BYTES_PER_SAMPLE;
  }

  /** Silence to be sent here. */
  silence(seconds: number): Uint8Array {
    const samples = Math.round(seconds * this.#sampleRate);
    const last = this.#pauses.at(-1);
    if (last?.atSample === this.#audioSamples) last.samples += samples;
    else this.#pauses.push({ atSample: this.#audioSamples, samples });
    this.#silenceSamples += samples;
    if (this.#pauses.length > PAUSES_MAX) this.#forgottenSamples += this.#pauses.shift()?.samples ?? 0;
    return new Uint8Array(samples * BYTES_PER_SAMPLE);
  }

  /** A time of the provider, which cannot have heard more than was sent. */
  heardSeconds(seconds: number): number {
    return Math.min(seconds, this.sentSeconds);
  }

  /** A time of the provider on the leg's clock. A time within put-in silence is where that was put in. */
  legSeconds(seconds: number): number {
    const heard = this.heardSeconds(seconds);
    if (this.#silenceSamples === 0) return heard;
    let sample = heard * this.#sampleRate - this.#forgottenSamples;
    for (const { atSample, samples } of this.#pauses) {
      if (sample <= atSample) break;
      sample = Math.max(atSample, sample - samples);
    }
    return Math.max(0, sample) / this.#sampleRate;
  }
}
