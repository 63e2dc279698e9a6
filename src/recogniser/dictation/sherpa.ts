// The native library, as far as it is used here. It is loaded in a process of its own alone: a fault in it ends that process.
import { createRequire } from 'node:module';

export interface Waveform {
  sampleRate: number;
  /** -1 to 1. */
  samples: Float32Array;
}

/** What a model makes of audio. Times are seconds from its first sample; empty where the model gives none. */
export interface SherpaResult {
  text: string;
  tokens: string[];
  timestamps: number[];
  /** Of a stream that was reset: seconds of audio before what its times count from. */
  start_time?: number;
}

export interface OfflineStream {
  acceptWaveform(waveform: Waveform): void;
}

export interface OfflineRecognizer {
  createStream(): OfflineStream;
  decode(stream: OfflineStream): void;
  getResult(stream: OfflineStream): SherpaResult;
  /** On a thread of libuv's pool. */
  decodeAsync(stream: OfflineStream): Promise<SherpaResult>;
}

export interface OnlineStream extends OfflineStream {
  inputFinished(): void;
}

export interface OnlineRecognizer {
  createStream(): OnlineStream;
  isReady(stream: OnlineStream): boolean;
  decode(stream: OnlineStream): void;
  getResult(stream: OnlineStream): SherpaResult;
  reset(stream: OnlineStream): void;
}

export interface Vad {
  acceptWaveform(samples: Float32Array): void;
  isDetected(): boolean;
  isEmpty(): boolean;
  pop(): void;
  reset(): void;
}

/** Configurations as the library's documentation names them. */
export type SherpaConfig = Readonly<Record<string, unknown>>;

export interface Sherpa {
  OfflineRecognizer: new (config: SherpaConfig) => OfflineRecognizer;
  OnlineRecognizer: new (config: SherpaConfig) => OnlineRecognizer;
  Vad: new (config: SherpaConfig, bufferSeconds: number) => Vad;
}

/** @throws Error where there is no binary for this system */
export function loadSherpa(): Sherpa {
  return createRequire(import.meta.url)('sherpa-onnx-node') as Sherpa;
}
