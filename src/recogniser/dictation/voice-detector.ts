// Whether somebody speaks, by Silero's model of voices: noise, music and breath are told from speech, which loudness cannot do.
import type { Sherpa, Vad } from './sherpa.ts';

/** Samples of a frame, at 16 kHz: what the model takes. */
export const FRAME_SAMPLES = 512;
/** Speech, or silence, of this length counts. */
const SURE_SECONDS = 0.1;
/** So long after a voice began, or ended, it is known: measured on 80 sentences, within 30 ms in four of five. */
export const LAG_SAMPLES = { start: 3_040, end: 4_000 } as const;

interface VoiceSettings {
  /** From this probability of a voice on, 0 to 1. */
  threshold: number;
  /** Memory for the audio of a voice at first; it grows. */
  bufferSeconds: number;
}

/** At the usual 0.5 three of a hundred short words were missed. */
const FOR_TURNS: VoiceSettings = { threshold: 0.4, bufferSeconds: 30 };

/** Those that were used are used again: each holds the model (11 MB) and takes 50 ms to make. */
export class VoiceDetectors {
  readonly #sherpa: Sherpa;
  readonly #file: string;
  readonly #settings: VoiceSettings;
  readonly #free: VoiceDetector[] = [];

  /** @param file the model */
  constructor(sherpa: Sherpa, file: string, settings: VoiceSettings = FOR_TURNS) {
    this.#sherpa = sherpa;
    this.#file = file;
    this.#settings = settings;
  }

  take(): VoiceDetector {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const detector = new VoiceDetector(this.#make());
    detector.reset();
    return detector;
  }

  giveBack(detector: VoiceDetector): void {
    detector.reset();
    this.#free.push(detector);
  }

  #make(): Vad {
    const { threshold, bufferSeconds } = this.#settings;
    const sileroVad = {
      model: this.#file,
      threshold,
      minSpeechDuration: SURE_SECONDS,
      minSilenceDuration: SURE_SECONDS,
      maxSpeechDuration: 25,
      windowSize: FRAME_SAMPLES,
    };
    return new this.#sherpa.Vad(
      { sileroVad, sampleRate: 16_000, numThreads: 1, provider: 'cpu', debug: 0 },
      bufferSeconds,
    );
  }
}

export class VoiceDetector {
  readonly #vad: Vad;

  constructor(vad: Vad) {
    this.#vad = vad;
  }

  /** Takes one frame. Returns whether somebody speaks, as far as it is known by then: see `LAG_SAMPLES`. */
  hear(frame: Float32Array): boolean {
    this.#vad.acceptWaveform(frame);
    // It keeps a copy of what was spoken, which is not needed.
    while (!this.#vad.isEmpty()) this.#vad.pop();
    return this.#vad.isDetected();
  }

  /** As if it were new. */
  reset(): void {
    this.#vad.reset();
    // It remembers the end of the last frame beyond a reset.
    this.#vad.acceptWaveform(new Float32Array(FRAME_SAMPLES));
  }
}
