// A stream of voices: reports where somebody speaks, and how far it has processed the audio.

import { FrameCutter } from '../dictation/frames.ts';
import { FRAME_SAMPLES, LAG_SAMPLES } from '../dictation/voice-detector.ts';
import { SAMPLE_RATE, type VoiceMessage } from '../protocol.ts';

/** Lower than for dictation, as a voice that is missed marks honest text: at 0.12 no short word was missed, at 0.1 a dial tone is a voice. */
export const VOICE_SETTINGS = { threshold: 0.12, bufferSeconds: 2 };

/** A report comes at least after so much audio. */
const REPORT_SAMPLES = SAMPLE_RATE / 2;
/** Samples up to this, of 32,768, are digital silence: the model does not run after half a second of it. */
const SILENT_SAMPLE_MAX = 4 / 32_768;
const SILENT_FRAMES = Math.ceil(SAMPLE_RATE / 2 / FRAME_SAMPLES);

/** Quieter audio is raised to this peak, 30 times at most: the model misses voices that are too quiet. */
const PEAK_MIN = 0.05;
const GAIN_MAX = 30;
/** The level follows a rise at once, and a fall by 4 dB a second. */
const LEVEL_FALL = 0.985;

interface Detector {
  hear(frame: Float32Array): boolean;
}

export class VoiceStream {
  readonly #detector: Detector;
  readonly #say: (message: VoiceMessage) => void;
  readonly #frames = new FrameCutter((frame) => this.#take(frame));
  #silentFrames = 0;
  #level = 0;
  /** Samples in whole frames. */
  #position = 0;
  #reportedPosition = 0;
  /** Where the voice that is heard begins, or what is not reported of it. */
  #voicedFrom: number | undefined;
  #ranges: [number, number][] = [];

  constructor(detector: Detector, say: (message: VoiceMessage) => void) {
    this.#detector = detector;
    this.#say = say;
  }

  /** Takes linear16 bytes, cut anywhere. */
  audio(bytes: Uint8Array): void {
    this.#frames.push(bytes);
  }

  /** What is known by now. The last samples, fewer than a frame, count as processed. */
  report(): void {
    const until = this.#position + this.#frames.pending;
    if (this.#voicedFrom !== undefined) {
      this.#addRange(this.#voicedFrom, until);
      this.#voicedFrom = until;
    }
    this.#say({ type: 'voice', until: until / SAMPLE_RATE, ranges: this.#ranges });
    this.#ranges = [];
    this.#reportedPosition = this.#position;
  }

  #take(frame: Float32Array): void {
    const isSpeaking = this.#hear(frame);
    this.#position += FRAME_SAMPLES;
    const wasSpeaking = this.#voicedFrom !== undefined;
    if (isSpeaking && !wasSpeaking) this.#voicedFrom = Math.max(0, this.#position - LAG_SAMPLES.start);
    else if (wasSpeaking && !isSpeaking) this.#endVoice(this.#voicedFrom as number);
    if (isSpeaking !== wasSpeaking || this.#position - this.#reportedPosition >= REPORT_SAMPLES) this.report();
  }

  #hear(frame: Float32Array): boolean {
    const peak = frame.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    this.#silentFrames = peak <= SILENT_SAMPLE_MAX ? this.#silentFrames + 1 : 0;
    const isSkipped = this.#silentFrames > SILENT_FRAMES && this.#voicedFrom === undefined;
    if (isSkipped) return false;
    this.#raise(frame, peak);
    return this.#detector.hear(frame);
  }

  #raise(frame: Float32Array, peak: number): void {
    this.#level = Math.max(peak, this.#level * LEVEL_FALL);
    const gain = Math.min(GAIN_MAX, PEAK_MIN / this.#level);
    if (!(gain > 1)) return;
    for (const [at, sample] of frame.entries()) frame[at] = sample * gain;
  }

  #endVoice(from: number): void {
    this.#addRange(from, this.#position - LAG_SAMPLES.end);
    this.#voicedFrom = undefined;
  }

  #addRange(from: number, to: number): void {
    if (to > from) this.#ranges.push([from / SAMPLE_RATE, to / SAMPLE_RATE]);
  }
}
