// Speech models of the operator's own: what kinds the library opens, which files each has, and their rows in the catalogue. How a folder
// is read is in src/config/local-models.ts.
import type { Mode } from '../../api/models.ts';

interface ModelKindInfo {
  /** `online` models hear audio as it comes; `offline` ones hear a whole utterance. */
  mode: 'offline' | 'online';
  /** For each file, the names it usually has; the first pattern that fits a file of the folder decides. */
  files: Readonly<Record<string, readonly RegExp[]>>;
  /** Whether its text has punctuation and capitals. */
  formatting?: true;
}

const ENCODER = [/encoder.*\.(?:onnx|ort)$/];
const DECODER = [/decoder.*\.(?:onnx|ort)$/];
const JOINER = [/joiner.*\.(?:onnx|ort)$/];
const MODEL = [/^model[^/]*\.(?:onnx|ort)$/, /\.(?:onnx|ort)$/];
const transducer = { encoder: ENCODER, decoder: DECODER, joiner: JOINER };

/** What kinds of models there are, and the files of each, as the configuration of the library names them. */
export const MODEL_KINDS = {
  moonshine: {
    mode: 'offline',
    files: { encoder: ENCODER, mergedDecoder: [/merged.*\.(?:onnx|ort)$/, ...DECODER] },
    formatting: true,
  },
  // As it was first published, in four files.
  'moonshine-v1': {
    mode: 'offline',
    files: {
      preprocessor: [/preprocess.*\.(?:onnx|ort)$/],
      encoder: [/encode.*\.(?:onnx|ort)$/],
      uncachedDecoder: [/uncached_?decode.*\.(?:onnx|ort)$/],
      cachedDecoder: [/(?<!un)cached_?decode.*\.(?:onnx|ort)$/],
    },
    formatting: true,
  },
  whisper: { mode: 'offline', files: { encoder: ENCODER, decoder: DECODER }, formatting: true },
  transducer: { mode: 'offline', files: transducer },
  'nemo-transducer': { mode: 'offline', files: transducer, formatting: true },
  'nemo-ctc': { mode: 'offline', files: { model: MODEL } },
  'zipformer-ctc': { mode: 'offline', files: { model: MODEL } },
  'sense-voice': { mode: 'offline', files: { model: MODEL }, formatting: true },
  paraformer: { mode: 'offline', files: { model: MODEL } },
  canary: { mode: 'offline', files: { encoder: ENCODER, decoder: DECODER }, formatting: true },
  dolphin: { mode: 'offline', files: { model: MODEL } },
  'streaming-transducer': { mode: 'online', files: transducer },
  'streaming-zipformer2-ctc': { mode: 'online', files: { model: MODEL } },
  'streaming-paraformer': { mode: 'online', files: { encoder: ENCODER, decoder: DECODER } },
  'streaming-nemo-ctc': { mode: 'online', files: { model: MODEL } },
} as const satisfies Readonly<Record<string, ModelKindInfo>>;

export type ModelKind = keyof typeof MODEL_KINDS;

export const kindInfo = (kind: ModelKind): ModelKindInfo => MODEL_KINDS[kind];

/** Whether it is told which language is spoken. */
export const isToldLanguage = (kind: ModelKind): boolean => ['whisper', 'sense-voice', 'canary'].includes(kind);

/** What a process needs to open a model. */
export interface SpeechModel {
  kind: ModelKind;
  /** Absolute path of each file of the kind. */
  files: Readonly<Record<string, string>>;
  tokens: string;
  /** Samples a second that it was trained with; 16,000 when absent. */
  sampleRate?: number;
  /** The language to tell it, where it takes one and knows only this one. */
  language?: string;
}

/** A folder of the operator's, as its `model.json` declares it. */
export interface LocalModel {
  /** The name of the folder, and the part of the slug behind the slash. */
  name: string;
  folder: string;
  title?: string;
  description?: string;
  languages: readonly string[];
  modes: readonly Mode[];
  model: SpeechModel;
}
