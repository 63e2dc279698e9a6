// Catalogue rows of Mistral's Voxtral. Not verified with the service: whether the end of a flush is told by the third generation,
// how much faster than real time audio may come, how long a session may be, the languages and word times of the third generation,
// and speakers live, which are left out for that. What it says of audio seconds is wrong: files are billed by their own length.

import { bearer, keyCheck, providerApi, withVersion } from '../kit/api.ts';
import { modelCards, processedIn } from '../kit/cards.ts';

/** Audio is heard anywhere, but at an endpoint of a region, which costs a tenth more: https://docs.mistral.ai/inference/regional-inference */
export const ENDPOINTS = { names: ['eu'], oneKey: false } as const;

export const api = providerApi({
  url: ({ fields }) => `https://api.${fields?.region === undefined ? '' : `${fields.region}.`}mistral.ai`,
  base: withVersion,
  headers: bearer,
});

/** It lists the models to whoever has the key: https://docs.mistral.ai/api/endpoint/models */
export const credentialCheck = keyCheck(api, '/models');

/** The second generation ends no turns; the third does, and takes a language and names. */
export const LIVE_2 = 'voxtral-mini-transcribe-realtime-2602';
export const LIVE_3 = 'voxtral-mini-transcribe-realtime-3';
export const FILES: readonly string[] = [
  'voxtral-mini-2602',
  'voxtral-mini-transcribe-3',
  'voxtral-small-transcribe-3',
];

const LANGUAGES_2 = ['en', 'zh', 'hi', 'es', 'ar', 'fr', 'pt', 'ru', 'de', 'ja', 'ko', 'it', 'nl'];
const ANY = ['*'];
/** https://docs.mistral.ai/studio/audio/speech-to-text */
const FILE_SECONDS_MAX = 3 * 3_600;
const FILE = { can: { diarization: true, word_timestamps: true, interim_results: false } };

export const models = modelCards(
  'mistral',
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
    sampleRates: [8_000, 16_000, 24_000, 44_100, 48_000],
    fileSecondsMax: FILE_SECONDS_MAX,
    priceSource: { url: 'https://mistral.ai/news/voxtral-transcribe-2', date: '2026-08-01' },
    // The region is the European Union or EFTA. Kept for 30 days, except for accounts with zero data retention.
    processing: processedIn(
      { url: 'https://docs.mistral.ai/inference/regional-inference', date: '2026-11-23' },
      [{ region: 'global' }, { region: 'europe', endpoints: ['eu'] }],
      [{ retention: 'kept' }, { retention: 'none', agreement: true }],
    ),
  },
  [
    {
      id: LIVE_3,
      name: 'Voxtral Mini Transcribe Realtime 3',
      description: 'Live, in more than 40 languages; ends turns itself, and accepts expected names. In preview.',
      languages: ANY,
      live: '0.008',
      priceDate: '2026-10-20',
    },
    {
      id: LIVE_2,
      name: 'Voxtral Mini Transcribe Realtime',
      description: 'Live, in 13 languages that it detects itself. The gateway ends its turns, by silence.',
      languages: LANGUAGES_2,
      live: '0.006',
    },
    {
      id: 'voxtral-mini-2602',
      name: 'Voxtral Mini Transcribe 2',
      description: 'Files of up to three hours in 13 languages, with speakers.',
      languages: LANGUAGES_2,
      batch: '0.003',
      ...FILE,
    },
    // Both of a second's price as resellers list it: 0.00005834 and 0.00006667 USD.
    {
      id: 'voxtral-mini-transcribe-3',
      name: 'Voxtral Mini Transcribe 3',
      description: 'Files in more than 40 languages, with speakers.',
      languages: ANY,
      batch: '0.0035',
      priceDate: '2026-10-20',
      ...FILE,
    },
    {
      id: 'voxtral-small-transcribe-3',
      name: 'Voxtral Small Transcribe 3',
      description: 'Files in more than 40 languages, with speakers; larger and more accurate.',
      languages: ANY,
      batch: '0.004',
      priceDate: '2026-10-20',
      ...FILE,
    },
  ],
);
