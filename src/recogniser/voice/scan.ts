// Looks for voices in audio that is still held: the second opinion on what the energy meter takes for speech. The audio goes to the
// detector piece by piece, the next one when the last was checked, so a scan holds no queue and stops where it is no longer needed.
import { PcmConverter } from '../../audio/resampler.ts';
import type { Engine, EngineConnection } from '../../vendors/kit/provider.ts';
import { LAG_SAMPLES } from '../dictation/voice-detector.ts';
import { SAMPLE_RATE, type StreamMessage } from '../protocol.ts';
import { openVoices, VOICE_SECONDS_MIN } from './open-voices.ts';

/** The most that one piece holds. */
const PIECE_SECONDS = 1;
/** A shorter piece waits for more audio. */
const PIECE_SECONDS_MIN = 0.2;
/** What the detector is given before the sound: it knows a voice by how it begins. */
export const SCAN_LEAD_MS = 300;
/** A voice that began so shortly before the end of what was checked is not known yet. */
const LAG_SECONDS = LAG_SAMPLES.start / SAMPLE_RATE;

export interface VoiceScanOptions {
  /** The engine that has streams of voices; absent: there is none. */
  engine: Engine | undefined;
  organisationId: string;
  sampleRate: number;
  /** The first sample. */
  from: number;
  /** The samples from `position` on that are there, at most `samplesMax`. May throw: then the scan fails. */
  read(position: number, samplesMax: number): Int16Array;
  /** More is known. Never called within `advance`. */
  changed?(): void;
}

/** Positions are samples of the audio. */
export class VoiceScan {
  readonly #options: VoiceScanOptions;
  readonly #converter: PcmConverter;
  #connection: EngineConnection | undefined;
  /** Handed over, in samples of the audio and of the detector. */
  #taken: number;
  #takenByDetector = 0;
  #isChecking = false;
  #checkedSeconds = 0;
  #voiceSeconds = 0;
  #firstVoice: number | undefined;
  #lastVoiceEnd: number | undefined;
  #isOver = false;

  constructor(options: VoiceScanOptions) {
    this.#options = options;
    this.#taken = options.from;
    this.#converter = new PcmConverter(options.sampleRate, SAMPLE_RATE);
    this.#connection = openVoices(options.engine, options.organisationId, {
      message: (message) => this.#hear(message),
      closed: () => this.#fail(),
    });
    if (this.#connection === undefined) this.#isOver = true;
  }

  /** Nothing more will be known: there is no detector, it failed, or the scan was stopped. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Where the first voice begins. */
  get firstVoice(): number | undefined {
    return this.#voiceSeconds < VOICE_SECONDS_MIN ? undefined : this.#firstVoice;
  }

  /** Where the last voice ends, or how far it was heard. */
  get lastVoiceEnd(): number | undefined {
    return this.firstVoice === undefined ? undefined : this.#lastVoiceEnd;
  }

  /** Up to here it is known where voices are. */
  get knownTo(): number {
    const known = this.#positionOf(this.#checkedSeconds - LAG_SECONDS);
    return Math.max(this.#options.from, known);
  }

  /** Hands over the next piece, unless one is being checked or too little is there. */
  advance(): void {
    if (this.#isChecking || this.#isOver) return;
    const { sampleRate, read } = this.#options;
    try {
      const samples = read(this.#taken, PIECE_SECONDS * sampleRate);
      if (samples.length < PIECE_SECONDS_MIN * sampleRate) return;
      this.#taken += samples.length;
      const converted = this.#converter.push(samples);
      this.#takenByDetector += converted.length;
      this.#isChecking = true;
      this.#connection?.send(new Uint8Array(converted.buffer, converted.byteOffset, converted.byteLength));
      this.#connection?.send({ type: 'finalize' });
    } catch {
      // Audio that cannot be read back is the lane's to report.
      this.stop();
    }
  }

  stop(): void {
    this.#isOver = true;
    this.#connection?.terminate();
    this.#connection = undefined;
  }

  #hear(message: StreamMessage): void {
    if (this.#isOver || message.type !== 'voice') return;
    for (const [start, end] of message.ranges) {
      this.#voiceSeconds += end - start;
      this.#firstVoice ??= this.#positionOf(start);
      this.#lastVoiceEnd = this.#positionOf(end);
    }
    this.#checkedSeconds = message.until;
    if (Math.round(message.until * SAMPLE_RATE) >= this.#takenByDetector) this.#isChecking = false;
    this.#options.changed?.();
  }

  #fail(): void {
    if (this.#isOver) return;
    this.stop();
    this.#options.changed?.();
  }

  #positionOf(seconds: number): number {
    return this.#options.from + Math.round(seconds * this.#options.sampleRate);
  }
}

/** Begins a scan of some audio at a sample. */
export type OpenVoiceScan = (from: number, changed?: () => void) => VoiceScan;

/** How a second opinion ended: `late` and `no_detector` leave the decision to the energy meter. */
export type VoiceCheckOutcome = 'voice' | 'no_voice' | 'late' | 'no_detector';

/** What a second opinion was for. */
export type VoiceCheckPurpose = 'stall' | 'turn' | 'utterance';
