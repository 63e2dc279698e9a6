// Whether a window of audio is louder than its surroundings are on their own: the threshold follows the noise. Made for
// audio that is cut or left out; what it takes for speech by mistake costs little, what it misses is lost, so it errs upwards.

export const WINDOW_MS = 25;
/** The quietest window of this time is taken for the noise: speech has a gap between two words sooner. */
const MEMORY_MS = 4_000;
const BLOCK_MS = 500;
/** What the noise is taken for until the first of that time has passed. */
const NOISE_DBFS = -60;

const BLOCKS = MEMORY_MS / BLOCK_MS;
const BLOCK_WINDOWS = BLOCK_MS / WINDOW_MS;

/** What stands out of the noise. */
interface VoiceRules {
  /** How far speech stands out. */
  marginDb: number;
  /** What is louder is speech, whatever the noise; what is quieter is none. */
  loudestDbfs: number;
  quietestDbfs: number;
}

/** For audio that is cut into utterances. */
const UTTERANCES: VoiceRules = { marginDb: 9, loudestDbfs: -32, quietestDbfs: -57 };

export class VoiceActivity {
  readonly #margin: number;
  readonly #loudest: number;
  readonly #quietest: number;
  /** Power of the quietest window of each block, the oldest at `#next`. */
  readonly #blocks = new Float64Array(BLOCKS).fill(powerOf(NOISE_DBFS));
  #next = 0;
  #windows = 0;
  #current = Number.POSITIVE_INFINITY;
  #noise = powerOf(NOISE_DBFS);

  constructor({ marginDb, loudestDbfs, quietestDbfs }: VoiceRules = UTTERANCES) {
    this.#margin = 10 ** (marginDb / 10);
    this.#loudest = powerOf(loudestDbfs);
    this.#quietest = powerOf(quietestDbfs);
  }

  /** From this power on, the next window is speech. */
  get threshold(): number {
    return Math.min(this.#loudest, Math.max(this.#quietest, this.#noise * this.#margin));
  }

  /** The next window, by its power. Returns whether it is speech. */
  hears(power: number): boolean {
    const { threshold } = this;
    this.#learn(power);
    return power >= threshold;
  }

  #learn(power: number): void {
    this.#current = Math.min(this.#current, power);
    this.#noise = Math.min(this.#noise, power);
    this.#windows++;
    if (this.#windows < BLOCK_WINDOWS) return;
    this.#blocks[this.#next] = this.#current;
    this.#next = (this.#next + 1) % BLOCKS;
    this.#windows = 0;
    this.#current = Number.POSITIVE_INFINITY;
    this.#noise = this.#blocks.reduce((least, each) => Math.min(least, each));
  }
}

/** Measured samples per second; loudness needs no more, and fewer cost less. */
const MEASURED_HZ = 4000;
const FULL_SCALE = 32768;

/** The power of a loudness relative to full scale, as `onWindow` gives it. */
export const powerOf = (dbfs: number): number => FULL_SCALE ** 2 * 10 ** (dbfs / 10);

/**
 * How loud a stream is, in windows of 25 ms from position 0 on: cheap enough for every sample. The result does not depend on how the
 * stream is cut.
 */
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
