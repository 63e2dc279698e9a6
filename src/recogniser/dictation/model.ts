// A speech model as a process of the recogniser is told to open it.
import { join } from 'node:path';
import type { ModelKind, SpeechModel } from '../../vendors/local/own-model.ts';
import { SAMPLE_RATE } from '../protocol.ts';
import type { SherpaConfig } from './sherpa.ts';

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
export function configOf({ kind, files, tokens, sampleRate = SAMPLE_RATE, language }: SpeechModel): SherpaConfig {
  const shared = { tokens, numThreads: 1, provider: 'cpu', debug: 0 };
  const own: Record<ModelKind, SherpaConfig> = {
    moonshine: { moonshine: files },
    'moonshine-v1': { moonshine: files },
    // Without a language it finds out which one is spoken.
    whisper: { whisper: { ...files, language: language ?? '', task: 'transcribe', tailPaddings: -1 } },
    transducer: { transducer: files },
    'nemo-transducer': { transducer: files, modelType: 'nemo_transducer' },
    'nemo-ctc': { nemoCtc: files },
    'zipformer-ctc': { zipformerCtc: files },
    'sense-voice': { senseVoice: { ...files, language: language ?? 'auto', useInverseTextNormalization: 1 } },
    paraformer: { paraformer: files },
    canary: { canary: { ...files, srcLang: language ?? 'en', tgtLang: language ?? 'en', usePnc: 1 } },
    dolphin: { dolphin: files },
    'streaming-transducer': { transducer: files },
    'streaming-zipformer2-ctc': { zipformer2Ctc: files },
    'streaming-paraformer': { paraformer: files },
    'streaming-nemo-ctc': { nemoCtc: files },
  };
  return { featConfig: { sampleRate, featureDim: 80 }, modelConfig: { ...shared, ...own[kind] } };
}
