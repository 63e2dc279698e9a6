// How loud a stream is, window after window: cheap enough for every sample that comes.

export const WINDOW_MS = 25;
/** Measured samples per second; loudness needs no more, and fewer cost less. */
const MEASURED_HZ = 4000;
const FULL_SCALE = 32768;

/** The power of a loudness relative to full scale, as `onWindow` gives it. */
export const powerOf = (dbfs: number): number => FULL_SCALE ** 2 * 10 ** (dbfs / 10);

/** Measures windows of 25 ms from position 0 on. The result does not depend on how the stream is cut. */
export class WindowPower {
  readonly windowSamples: number;
  readonly #stride: number;
  readonly #onWindow: (power: number) => void;
  #position = 0;
  #windowEnd: number;
  #nextMeasured = 0;
  #count = 0;
  #sum = 0;
  #squares = 0;

  /** @param onWindow called at the end of each window with its mean square, less its mean: a DC offset is no sound */
  constructor(sampleRate: number, onWindow: (power: number) => void) {
    this.windowSamples = Math.round((sampleRate * WINDOW_MS) / 1000);
    this.#stride = Math.max(1, Math.floor(sampleRate / MEASURED_HZ));
    this.#windowEnd = this.windowSamples;
    this.#onWindow = onWindow;
  }

  /** Samples measured so far, also within a window. */
  get position(): number {
    return this.#position;
  }

  /** Where the window ends that is being measured. */
  get windowEnd(): number {
    return this.#windowEnd;
  }

  /** The next samples of the stream: `samples[from]` to `samples[to - 1]`. */
  take(samples: Int16Array, from: number, to: number): void {
    const shift = this.#position - from;
    const end = this.#position + to - from;
    while (this.#position < end) {
      const stop = Math.min(end, this.#windowEnd);
      this.#measure(samples, shift, stop);
      this.#position = stop;
      if (stop === this.#windowEnd) this.#closeWindow();
    }
  }

  #measure(samples: Int16Array, shift: number, stop: number): void {
    const stride = this.#stride;
    let at = this.#nextMeasured;
    let sum = 0;
    let squares = 0;
    for (; at < stop; at += stride) {
      const sample = samples[at - shift]!;
      sum += sample;
      squares += sample * sample;
      this.#count++;
    }
    this.#nextMeasured = at;
    this.#sum += sum;
    this.#squares += squares;
  }

  #closeWindow(): void {
    const mean = this.#sum / this.#count;
    const power = this.#squares / this.#count - mean * mean;
    this.#windowEnd += this.windowSamples;
    this.#count = 0;
    this.#sum = 0;
    this.#squares = 0;
    this.#onWindow(power);
  }
}
