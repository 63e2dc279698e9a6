// Catalogue rows of speaches: models that it is often given; another is told by the configuration. Read in its source, and not tried
// on a server: that speech is never heard at the highest threshold, which leaves the ends of turns to the gateway, and how long a
// model takes to load on first use.

import { bearer, providerApi, withVersion } from '../kit/api.ts';
import { modelCards, ownServer } from '../kit/cards.ts';
import { LANGUAGES } from '../kit/languages/whisper-languages.ts';

export const api = providerApi({ url: 'http://127.0.0.1:8000', base: withVersion, headers: bearer });

/** Hertz of linear16 in a session; it takes no other. */
export const LIVE_RATE = 24_000;

const TURBO = 'faster-whisper-large-v3-turbo';
/** What each is called there. It has to be installed first. */
export function nameOf(model: string): string {
  if (model === TURBO) return 'deepdml/faster-whisper-large-v3-turbo-ct2';
  return model.startsWith('faster-') ? `Systran/${model}` : model;
}

const WHERE = 'On your own speaches server: files, and live with finals only.';

/** https://huggingface.co/collections/Systran/faster-whisper; the turbo model is not of Systran. */
const MODELS: readonly (readonly [id: string, name: string, of: string])[] = [
  ['faster-whisper-large-v3', 'Faster Whisper Large v3', 'The most accurate one.'],
  [TURBO, 'Faster Whisper Large v3 Turbo', 'Faster than its larger sibling, slightly less accurate.'],
  ['faster-whisper-large-v2', 'Faster Whisper Large v2', 'The generation before v3.'],
  ['faster-whisper-medium', 'Faster Whisper Medium', 'Between Small and Large.'],
  ['faster-whisper-small', 'Faster Whisper Small', 'For machines without a graphics card.'],
  ['faster-whisper-base', 'Faster Whisper Base', 'For small machines.'],
  ['faster-whisper-tiny', 'Faster Whisper Tiny', 'The fastest one, and the least accurate.'],
  ['faster-whisper-medium.en', 'Faster Whisper Medium (English)', 'English only.'],
  ['faster-whisper-small.en', 'Faster Whisper Small (English)', 'English only, without a graphics card.'],
  ['faster-whisper-base.en', 'Faster Whisper Base (English)', 'English only, for small machines.'],
  ['faster-whisper-tiny.en', 'Faster Whisper Tiny (English)', 'English only, the fastest one.'],
  ['faster-distil-whisper-large-v3', 'Distil-Whisper Large v3', 'English only, distilled: faster, nearly as accurate.'],
  ['faster-distil-whisper-medium.en', 'Distil-Whisper Medium (English)', 'English only, distilled.'],
  ['faster-distil-whisper-small.en', 'Distil-Whisper Small (English)', 'English only, distilled, for small machines.'],
];

const hearsEnglishAlone = (of: string): boolean => of.startsWith('English only');

export const models = modelCards(
  'speaches',
  {
    created: 1_731_000_000,
    capabilities: {
      diarization: false,
      word_timestamps: true,
      interim_results: false,
      formatting: true,
      redaction: false,
      language_detection: true,
    },
    sampleRates: [LIVE_RATE],
    ...ownServer,
  },
  MODELS.map(([id, name, of]) => ({
    ...{ id, name, description: `${WHERE} ${of}`, live: '0', batch: '0' },
    ...(hearsEnglishAlone(of) ? { languages: ['en'], can: { language_detection: false } } : { languages: LANGUAGES }),
  })),
);
