// Tells speech from silence, frame by frame. Where a turn begins and ends is decided in stream.ts.
import { SAMPLE_RATE } from '../protocol.ts';
import type { Endpointer, SoundSwallowerModule } from './soundswallower.ts';

/** Samples of one frame: 20 ms. */
export const FRAME_SAMPLES = SAMPLE_RATE / 50;

/** Speech begins when more than `ratio` of the last `window` seconds are voiced, and is over when less than the rest are. */
const ENDPOINTER = { samprate: SAMPLE_RATE, frame_length: 0.02, mode: 2, window: 0.3, ratio: 0.7 };

/** So many times as loud as the quietest of the last seconds is more than hiss, which is left as it is. */
const OVER_FLOOR = 4;
/** Below it is what rounding to 16 bits leaves: one step of the samples. */
const SOUND_MIN = 2 ** -15;
/** By frame: the quietest is forgotten in about two seconds, the loudest in about five. */
const FLOOR_RISE = 2 ** (1 / 100);
const LOUDEST_FALL = 2 ** (-1 / 250);

/** WebRTC's voice activity detection over a window of 300 ms. Its thresholds hold for one loudness: it is given no less. */
export class TurnDetector {
  readonly #endpointer: Endpointer;
  readonly #levelled = new Float32Array(FRAME_SAMPLES);
  #floor = 1;
  #loudest = 0;

  constructor(module: SoundSwallowerModule) {
    this.#endpointer = new module.Endpointer(ENDPOINTER);
  }

  /** Hears one frame of `FRAME_SAMPLES`. Returns whether someone speaks. */
  hear(frame: Float32Array): boolean {
    const gain = this.#gainFor(loudnessOf(frame));
    for (const [at, sample] of frame.entries()) this.#levelled[at] = Math.max(-1, Math.min(1, sample * gain));
    this.#endpointer.process(this.#levelled);
    return this.#endpointer.get_in_speech();
  }

  /** Where the current speech began, in seconds from the first frame heard. */
  get speechStart(): number {
    return this.#endpointer.get_speech_start();
  }

  #gainFor(loudness: number): number {
    this.#floor = Math.min(Math.max(loudness, SOUND_MIN), this.#floor * FLOOR_RISE);
    this.#loudest = Math.max(loudness, this.#loudest * LOUDEST_FALL);
    if (loudness < this.#floor * OVER_FLOOR) return 1;
    return Math.max(1, gainOf(this.#loudest));
  }
}

/** Root mean square that speech is brought to, and the most that is amplified for it (hiss stays hiss). */
const LOUDNESS = 0.1;
const GAIN_MAX = 100;

/** The root mean square of a frame. */
export function loudnessOf(frame: Float32Array): number {
  return Math.sqrt(frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length);
}

/** What samples are multiplied by, where the loudest frame is this loud. */
export const gainOf = (loudest: number): number => Math.min(GAIN_MAX, LOUDNESS / loudest);

/** Whether levelled audio is so loud that a voice is heard: vowels are, breath and the hiss of a line are not. */
export const isVoiced = (levelled: number): boolean => levelled >= LOUDNESS / 6;
