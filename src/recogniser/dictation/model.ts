// A speech model as a process of the recogniser is told to open it.
import { join } from 'node:path';
import type { SherpaConfig } from './sherpa.ts';

/** What kinds of models there are, and the files of each, as the configuration of the library names them. */
export const MODEL_KINDS = {
  moonshine: {
    mode: 'offline',
    files: ['encoder', 'mergedDecoder'],
    optional: ['preprocessor', 'uncachedDecoder', 'cachedDecoder'],
  },
  whisper: { mode: 'offline', files: ['encoder', 'decoder'], optional: [] },
  transducer: { mode: 'offline', files: ['encoder', 'decoder', 'joiner'], optional: [] },
  'nemo-transducer': { mode: 'offline', files: ['encoder', 'decoder', 'joiner'], optional: [] },
  'nemo-ctc': { mode: 'offline', files: ['model'], optional: [] },
  'sense-voice': { mode: 'offline', files: ['model'], optional: [] },
  paraformer: { mode: 'offline', files: ['model'], optional: [] },
  'streaming-transducer': { mode: 'online', files: ['encoder', 'decoder', 'joiner'], optional: [] },
  'streaming-zipformer2-ctc': { mode: 'online', files: ['model'], optional: [] },
} as const;

export type ModelKind = keyof typeof MODEL_KINDS;

export interface SpeechModel {
  kind: ModelKind;
  /** Absolute path of each file of the kind. */
  files: Readonly<Record<string, string>>;
  tokens: string;
}

/** What a process needs to know. */
export interface WorkerSettings {
  model: SpeechModel;
  /** Absolute path of the model of voices. */
  voiceModel: string;
  /** Decodes at a time. */
  slots: number;
}

/** The model that comes with the package, and the one of voices, in the folder that the build makes. */
export const builtInModel = (folder: string): Pick<WorkerSettings, 'model' | 'voiceModel'> => ({
  model: {
    kind: 'moonshine',
    files: {
      encoder: join(folder, 'dictation-en/encoder.onnx'),
      mergedDecoder: join(folder, 'dictation-en/decoder.onnx'),
    },
    tokens: join(folder, 'dictation-en/tokens.txt'),
  },
  voiceModel: join(folder, 'voice-activity.onnx'),
});

/** The configuration that opens it. */
export function configOf({ kind, files, tokens }: SpeechModel): SherpaConfig {
  const shared = { tokens, numThreads: 1, provider: 'cpu', debug: 0 };
  const own: Record<ModelKind, SherpaConfig> = {
    moonshine: { moonshine: files },
    whisper: { whisper: { ...files, tailPaddings: -1 } },
    transducer: { transducer: files },
    'nemo-transducer': { transducer: files, modelType: 'nemo_transducer' },
    'nemo-ctc': { nemoCtc: files },
    'sense-voice': { senseVoice: { ...files, useInverseTextNormalization: 1 } },
    paraformer: { paraformer: files },
    'streaming-transducer': { transducer: files },
    'streaming-zipformer2-ctc': { zipformer2Ctc: files },
  };
  return { featConfig: { sampleRate: 16_000, featureDim: 80 }, modelConfig: { ...shared, ...own[kind] } };
}
