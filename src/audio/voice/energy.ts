// Where the audio has speech, and where it has any sound, judged by loudness alone: cheap enough for
// every chunk, good enough to tell "the provider is silent because the caller is" from "it has stalled". It makes no turns.
import { powerOf, WindowPower } from './window-power.ts';

/**
 * Root mean square over a window, less its mean (a DC offset is no speech). Room noise of common microphones lies at -70 to
 * -50 dBFS, speech at -35 to -15.
 */
interface Loudness {
  dbfs: number;
  /** Windows of 25 ms in a row that have to be so loud. */
  windows: number;
}

/** -45 dBFS is 184 of 32768. A click or a knock is shorter than a syllable: 100 ms are wanted. */
const SPEECH: Loudness = { dbfs: -45, windows: 4 };
/** Anything that could be heard at all: 16 of 32768. Below it no model finds anything to transcribe. */
const SOUND: Loudness = { dbfs: -66, windows: 1 };

/** Speech with shorter pauses than this is kept as one run. */
const PAUSE_MS = 1000;
/** Runs kept; when there are more, the two oldest become one with the pause between them. */
const RUNS_MAX = 1024;

/** Runs of windows that were loud enough. Positions are samples of the stream. */
class Runs {
  readonly #powerMin: number;
  readonly #windowsMin: number;
  readonly #windowSamples: number;
  readonly #pauseSamples: number;
  /** How far the stream was measured, also within a window. */
  position = 0;
  #windowEnd = 0;
  #loudWindows = 0;
  #starts: number[] = [];
  #ends: number[] = [];
  #lastEnd: number | undefined;

  constructor({ dbfs, windows }: Loudness, windowSamples: number, pauseSamples: number) {
    this.#powerMin = powerOf(dbfs);
    this.#windowsMin = windows;
    this.#windowSamples = windowSamples;
    this.#pauseSamples = pauseSamples;
  }

  /** End position of the last run, or undefined when there was none. */
  get lastEnd(): number | undefined {
    return this.#lastEnd;
  }

  /** The next window, with its power. */
  window(power: number): void {
    this.#windowEnd += this.#windowSamples;
    this.#loudWindows = power >= this.#powerMin ? this.#loudWindows + 1 : 0;
    if (this.#loudWindows >= this.#windowsMin) this.#extend(this.#windowEnd - this.#windowsMin * this.#windowSamples);
  }

  /** Where the first speech at or after `from` begins, or where all that was measured ends. */
  startAfter(from: number): number {
    const run = this.#ends.findIndex((end) => end > from);
    return run < 0 ? this.#windowEnd : Math.max(from, this.#starts[run]!);
  }

  /** Whether there was speech in [from, until). */
  between(from: number, until: number): boolean {
    for (let i = this.#ends.length - 1; i >= 0 && this.#ends[i]! > from; i--) {
      if (Math.max(this.#starts[i]!, from) < until) return true;
    }
    return false;
  }

  /**
   * End of the first speech after `from` that was followed by so much silence; undefined where there is none yet. Pauses
   * within speech are seen as they come, and afterwards only those that part two runs.
   */
  endAfter(from: number, silenceSamples: number): number | undefined {
    for (let i = 0; i < this.#ends.length; i++) {
      const end = this.#ends[i]!;
      if (end > from && (this.#starts[i + 1] ?? this.position) - end >= silenceSamples) return end;
    }
    return undefined;
  }

  /** Runs that ended before `position` will not be asked for again. */
  forget(position: number): void {
    let old = 0;
    while (old < this.#ends.length && this.#ends[old]! <= position) old++;
    if (old === 0) return;
    this.#starts.splice(0, old);
    this.#ends.splice(0, old);
  }

  /** Loud enough from `start` to the end of the last window. */
  #extend(start: number): void {
    const last = this.#ends.length - 1;
    this.#lastEnd = this.#windowEnd;
    if (last >= 0 && start - this.#ends[last]! < this.#pauseSamples) {
      this.#ends[last] = this.#windowEnd;
      return;
    }
    this.#starts.push(start);
    this.#ends.push(this.#windowEnd);
    if (this.#starts.length <= RUNS_MAX) return;
    this.#starts.splice(1, 1);
    this.#ends.splice(0, 1);
  }
}

/** Listens to a stream of samples from position 0 on. The result does not depend on how the stream is cut. */
export class SpeechMeter {
  /** Where there was speech. */
  readonly speech: Runs;
  /** Where there was anything to be heard. */
  readonly sound: Runs;
  readonly #power: WindowPower;

  constructor(sampleRate: number) {
    this.#power = new WindowPower(sampleRate, (power) => {
      this.speech.window(power);
      this.sound.window(power);
    });
    const { windowSamples } = this.#power;
    const pauseSamples = Math.round((sampleRate * PAUSE_MS) / 1000);
    this.speech = new Runs(SPEECH, windowSamples, pauseSamples);
    this.sound = new Runs(SOUND, windowSamples, pauseSamples);
  }

  /** The next samples of the stream: `samples[from]` to `samples[to - 1]`. */
  take(samples: Int16Array, from: number, to: number): void {
    this.#power.take(samples, from, to);
    this.speech.position = this.#power.position;
    this.sound.position = this.#power.position;
  }

  /** What ended before `position` will not be asked for again. */
  forget(position: number): void {
    this.speech.forget(position);
    this.sound.forget(position);
  }
}
