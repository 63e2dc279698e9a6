// Catalogue rows of vLLM: models of its page of supported ones that are for speech; another is told by the configuration:
// https://docs.vllm.ai/en/latest/models/supported_models. Read in its source, and not tried on a server: whether a key is requested at
// sessions, how much a message may hold, and how long a turn may be. Where no language is said newer servers find Whisper's out,
// older ones take everything for English.

import { bearer, providerApi, withVersion } from '../kit/api.ts';
import { modelCards, ownServer } from '../kit/cards.ts';
import { LANGUAGES } from '../kit/languages/whisper-languages.ts';

export const api = providerApi({ url: 'http://127.0.0.1:8000', base: withVersion, headers: bearer });

/** Hertz of linear16 in a session; it takes no other. */
export const LIVE_RATE = 16_000;

const LIVE_ONLY = 'voxtral-mini-4b-realtime-2602';
/** What each is called there, unless it was given another name. */
const NAMES: Readonly<Record<string, string>> = {
  [LIVE_ONLY]: 'mistralai/Voxtral-Mini-4B-Realtime-2602',
  'voxtral-mini-3b-2507': 'mistralai/Voxtral-Mini-3B-2507',
  'voxtral-small-24b-2507': 'mistralai/Voxtral-Small-24B-2507',
  'qwen3-asr-0.6b': 'Qwen/Qwen3-ASR-0.6B',
  'qwen3-asr-1.7b': 'Qwen/Qwen3-ASR-1.7B',
  'whisper-large-v3': 'openai/whisper-large-v3',
  'whisper-large-v3-turbo': 'openai/whisper-large-v3-turbo',
  'whisper-small': 'openai/whisper-small',
  'cohere-transcribe-03-2026': 'CohereLabs/cohere-transcribe-03-2026',
  'granite-4.0-1b-speech': 'ibm-granite/granite-4.0-1b-speech',
};
export const nameOf = (model: string): string => NAMES[model] ?? model;
/** Models with times of segments. */
export const isWhisper = (model: string): boolean => model.startsWith('whisper');
export const FILES: readonly string[] = Object.keys(NAMES).filter((model) => model !== LIVE_ONLY);
/** `VLLM_MAX_AUDIO_CLIP_FILESIZE_MB`, where it is not set: https://docs.vllm.ai/en/latest/configuration/env_vars */
export const FILE_BYTES_MAX = 25 * 1_048_576;

/** https://huggingface.co/mistralai/Voxtral-Mini-4B-Realtime-2602 */
const REALTIME_VOXTRAL = ['en', 'zh', 'hi', 'es', 'ar', 'fr', 'pt', 'ru', 'de', 'ja', 'ko', 'it', 'nl'];
/** https://huggingface.co/mistralai/Voxtral-Mini-3B-2507 */
const VOXTRAL = ['en', 'es', 'fr', 'pt', 'hi', 'de', 'nl', 'it'];
/** https://huggingface.co/Qwen/Qwen3-ASR-1.7B */
const QWEN = [
  ...['zh', 'en', 'yue', 'ar', 'de', 'fr', 'es', 'pt', 'id', 'it', 'ko', 'ru', 'th', 'vi', 'ja', 'tr', 'hi', 'ms'],
  ...['nl', 'sv', 'da', 'fi', 'pl', 'cs', 'fil', 'fa', 'el', 'hu', 'mk', 'ro'],
];
/** https://docs.cohere.com/docs/transcribe */
const COHERE = ['en', 'de', 'fr', 'it', 'es', 'pt', 'el', 'nl', 'pl', 'vi', 'zh', 'ar', 'ja', 'ko'];
/** https://huggingface.co/blog/ibm-granite/granite-4-speech */
const GRANITE = ['en', 'fr', 'de', 'es', 'pt', 'ja'];

const THERE = 'On your own vLLM server';
const FILES_ONLY = `${THERE}: files. Live, each utterance is a file.`;
const TURNS = 'The gateway ends its turns, by silence.';
/** https://docs.vllm.ai/en/latest/models/supported_models#realtime-transcription */
const STARTED = 'Live if the server was started with its realtime architecture.';
const TEXT_ALONE = { batch: '0', can: { segment_timestamps: false } } as const;
const WHISPER = { languages: LANGUAGES, batch: '0' } as const;

export const models = modelCards(
  'vllm',
  {
    created: 1_770_163_200,
    capabilities: {
      diarization: false,
      word_timestamps: false,
      interim_results: true,
      formatting: true,
      redaction: false,
      language_detection: true,
    },
    sampleRates: [LIVE_RATE],
    fileBytesMax: FILE_BYTES_MAX,
    ...ownServer,
  },
  [
    {
      id: LIVE_ONLY,
      name: 'Voxtral Mini 4B Realtime',
      description: `${THERE}: live, in 13 languages that it detects itself. ${TURNS}`,
      languages: REALTIME_VOXTRAL,
      live: '0',
    },
    {
      id: 'voxtral-mini-3b-2507',
      name: 'Voxtral Mini 3B',
      description: FILES_ONLY,
      languages: VOXTRAL,
      ...TEXT_ALONE,
    },
    {
      id: 'voxtral-small-24b-2507',
      name: 'Voxtral Small 24B',
      description: `${FILES_ONLY} More accurate than its smaller sibling.`,
      languages: VOXTRAL,
      ...TEXT_ALONE,
    },
    {
      id: 'qwen3-asr-0.6b',
      name: 'Qwen3 ASR 0.6B',
      description: `${THERE}: live, and for files. ${STARTED} ${TURNS}`,
      languages: QWEN,
      live: '0',
      ...TEXT_ALONE,
    },
    {
      id: 'qwen3-asr-1.7b',
      name: 'Qwen3 ASR 1.7B',
      description: `${THERE}: live, and for files, more accurate than its smaller sibling. ${STARTED} ${TURNS}`,
      languages: QWEN,
      live: '0',
      ...TEXT_ALONE,
    },
    { id: 'whisper-large-v3', name: 'Whisper Large v3 (vLLM)', description: FILES_ONLY, ...WHISPER },
    {
      id: 'whisper-large-v3-turbo',
      name: 'Whisper Large v3 Turbo (vLLM)',
      description: `${FILES_ONLY} Faster than its larger sibling, slightly less accurate.`,
      ...WHISPER,
    },
    {
      id: 'whisper-small',
      name: 'Whisper Small (vLLM)',
      description: `${FILES_ONLY} For small graphics cards.`,
      ...WHISPER,
    },
    {
      id: 'cohere-transcribe-03-2026',
      name: 'Cohere Transcribe',
      description: `${FILES_ONLY} It needs the language.`,
      languages: COHERE,
      batch: '0',
      can: { segment_timestamps: false, language_detection: false },
    },
    {
      id: 'granite-4.0-1b-speech',
      name: 'Granite 4.0 1B Speech',
      description: `${FILES_ONLY} For small graphics cards.`,
      languages: GRANITE,
      ...TEXT_ALONE,
    },
  ],
);
