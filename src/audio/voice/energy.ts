// Where the audio has speech, and where it has any sound, judged by loudness alone: cheap enough for
// every chunk, good enough to tell "the provider is silent because the caller is" from "it has stalled". It makes no turns.
import { powerOf, VoiceActivity, WindowPower } from './voice-activity.ts';

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
/**
 * What may be left out where it is not met: it stands out of the noise of the room by as little as a voice that can be
 * understood, and what is louder than such noise usually is counts whatever the noise.
 */
const AUDIBLE = { marginDb: 6, loudestDbfs: -50, quietestDbfs: SOUND.dbfs };

/** Runs with shorter pauses than this are kept as one: shorter ones end no turn, at whatever model, and are left in where a leg is behind. */
const PAUSE_MS = 300;
/** Of sound, where pauses matter to nobody. */
const LONG_PAUSE_MS = 1000;
/** Runs kept; when there are more, the two oldest become one with the pause between them. */
const RUNS_MAX = 1024;

/** Runs of windows that were loud enough. Positions are samples of the stream. */
class Runs {
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

  constructor(windowsMin: number, windowSamples: number, pauseSamples: number) {
    this.#windowsMin = windowsMin;
    this.#windowSamples = windowSamples;
    this.#pauseSamples = pauseSamples;
  }

  /** End position of the last run, or undefined when there was none. */
  get lastEnd(): number | undefined {
    return this.#lastEnd;
  }

  /** The next window. */
  window(isLoud: boolean): void {
    this.#windowEnd += this.#windowSamples;
    this.#loudWindows = isLoud ? this.#loudWindows + 1 : 0;
    if (this.#loudWindows >= this.#windowsMin) this.#extend(this.#windowEnd - this.#windowsMin * this.#windowSamples);
  }

  /** Where the first speech at or after `from` begins, or where all that was measured ends. */
  startAfter(from: number): number {
    const run = this.#ends.findIndex((end) => end > from);
    return run < 0 ? this.#windowEnd : Math.max(from, this.#starts[run]!);
  }

  /** Since when there was none at `position`; undefined within a run. What was forgotten is taken for the beginning. */
  quietSince(position: number): number | undefined {
    let run = this.#ends.length;
    while (run > 0 && this.#ends[run - 1]! > position) run--;
    if (run < this.#ends.length && this.#starts[run]! <= position) return undefined;
    return run === 0 ? 0 : this.#ends[run - 1]!;
  }

  /** Since when there was some at `position`; undefined where it was quiet. */
  since(position: number): number | undefined {
    const run = this.#ends.findIndex((end) => end > position);
    return run >= 0 && this.#starts[run]! <= position ? this.#starts[run] : undefined;
  }

  /** Whether there was speech in [from, until). */
  between(from: number, until: number): boolean {
    for (let i = this.#ends.length - 1; i >= 0 && this.#ends[i]! > from; i--) {
      if (Math.max(this.#starts[i]!, from) < until) return true;
    }
    return false;
  }

  /** How much of [from, until) it was, with the pauses that parted no runs. */
  within(from: number, until: number): number {
    let samples = 0;
    for (let i = this.#ends.length - 1; i >= 0 && this.#ends[i]! > from; i--) {
      samples += Math.max(0, Math.min(this.#ends[i]!, until) - Math.max(this.#starts[i]!, from));
    }
    return samples;
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

  /** Runs that ended before `position` will not be requested again. */
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
  /** Where something stood out of the noise. The rest is silence that nobody misses. */
  readonly audible: Runs;
  readonly #activity = new VoiceActivity(AUDIBLE);
  readonly #power: WindowPower;

  constructor(sampleRate: number) {
    const [speechMin, soundMin] = [powerOf(SPEECH.dbfs), powerOf(SOUND.dbfs)];
    this.#power = new WindowPower(sampleRate, (power) => {
      this.speech.window(power >= speechMin);
      this.sound.window(power >= soundMin);
      this.audible.window(this.#activity.hears(power));
    });
    const { windowSamples } = this.#power;
    const samplesOf = (ms: number) => Math.round((sampleRate * ms) / 1000);
    this.speech = new Runs(SPEECH.windows, windowSamples, samplesOf(PAUSE_MS));
    this.sound = new Runs(SOUND.windows, windowSamples, samplesOf(LONG_PAUSE_MS));
    this.audible = new Runs(1, windowSamples, samplesOf(PAUSE_MS));
  }

  /** What is quieter is silence, as far as it is known now. */
  get quietPower(): number {
    return this.#activity.threshold;
  }

  /** The next samples of the stream: `samples[from]` to `samples[to - 1]`. */
  take(samples: Int16Array, from: number, to: number): void {
    this.#power.take(samples, from, to);
    this.speech.position = this.#power.position;
    this.sound.position = this.#power.position;
    this.audible.position = this.#power.position;
  }

  /** What ended before `position` will not be requested again. */
  forget(position: number): void {
    this.speech.forget(position);
    this.sound.forget(position);
    this.audible.forget(position);
  }
}
