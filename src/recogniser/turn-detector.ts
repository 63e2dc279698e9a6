// Tells speech from silence, frame by frame. Where a turn begins and ends is decided in stream.ts.
import { SAMPLE_RATE } from './protocol.ts';
import type { Endpointer, SoundSwallowerModule } from './soundswallower.ts';

/** Samples of one frame: 20 ms. */
export const FRAME_SAMPLES = SAMPLE_RATE / 50;

/** Speech begins when more than `ratio` of the last `window` seconds are voiced, and is over when less than the rest are. */
const ENDPOINTER = { samprate: SAMPLE_RATE, frame_length: 0.02, mode: 2, window: 0.3, ratio: 0.7 };

/** WebRTC's voice activity detection over a window of 300 ms. */
export class TurnDetector {
  readonly #endpointer: Endpointer;

  constructor(module: SoundSwallowerModule) {
    this.#endpointer = new module.Endpointer(ENDPOINTER);
  }

  /** Hears one frame of `FRAME_SAMPLES`. Returns whether someone speaks. */
  hear(frame: Float32Array): boolean {
    this.#endpointer.process(frame);
    return this.#endpointer.get_in_speech();
  }

  /** Where the current speech began, in seconds from the first frame heard. */
  get speechStart(): number {
    return this.#endpointer.get_speech_start();
  }
}
