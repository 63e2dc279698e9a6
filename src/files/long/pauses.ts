// Where a stream of samples has no speech, by loudness alone. Pure and synchronous. What is taken for speech by mistake only costs
// a place to cut.
import { VoiceActivity, WindowPower } from '../../audio/voice/voice-activity.ts';
import type { Pause } from './plan.ts';

/** The result does not depend on how the stream is cut into pieces. */
export class PauseFinder {
  readonly #power: WindowPower;
  readonly #activity = new VoiceActivity();
  readonly #pauseSamples: number;
  #pauses: Pause[] = [];
  /** Where the last window ended. */
  #position = 0;
  /** Since when it is quiet. */
  #quietSince: number | undefined;

  /** @param pauseSamples shorter pauses are left out */
  constructor(sampleRate: number, pauseSamples: number) {
    this.#pauseSamples = pauseSamples;
    this.#power = new WindowPower(sampleRate, (power) => this.#window(power));
  }

  /** Pauses that were not forgotten, in their order; the last one may still continue. */
  get pauses(): readonly Pause[] {
    const last = this.#quietSince;
    if (last === undefined || this.#position - last < this.#pauseSamples) return this.#pauses;
    return [...this.#pauses, { start: last, end: this.#position }];
  }

  /** The next samples of the stream. */
  take(samples: Int16Array): void {
    this.#power.take(samples, 0, samples.length);
  }

  /** What ended before the position is not needed any more. */
  forget(position: number): void {
    this.#pauses = this.#pauses.filter(({ end }) => end > position);
  }

  #window(power: number): void {
    const start = this.#position;
    this.#position += this.#power.windowSamples;
    if (!this.#activity.hears(power)) {
      this.#quietSince ??= start;
      return;
    }
    const since = this.#quietSince;
    this.#quietSince = undefined;
    if (since !== undefined && start - since >= this.#pauseSamples) this.#pauses.push({ start: since, end: start });
  }
}
