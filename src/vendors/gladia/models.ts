// Catalogue rows of Gladia. Unverified, and read leniently: the defaults of most messages that may be received, so that all of them
// are requested or declined by name; what closes from 4400 to 4499 mean beyond their reason; the shape of an `error` message.
import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import { keyCheck, providerApi } from '../kit/api.ts';
import { modelCards, processedIn } from '../kit/cards.ts';

/** Where a live session may be held: https://docs.gladia.io/api-reference/v2/live/init */
export const ENDPOINTS = { names: ['eu-west', 'us-west'], oneKey: true } as const;

export const api = providerApi({
  url: 'https://api.gladia.io',
  headers: (credential) => ({ 'x-gladia-key': credential }),
});

/** It lists the newest file to whoever has the key: https://docs.gladia.io/api-reference/v2/pre-recorded/list */
export const credentialCheck = keyCheck(api, '/v2/pre-recorded', { limit: 1 });

/** https://docs.gladia.io/chapters/language/supported-languages, as its SDK lists them. */
const LANGUAGES: readonly string[] =
  `af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it ja jw ka
  kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv sw ta
  te tg th tk tl tr tt uk ur uz vi yi yo yue zh`.split(/\s+/);

const SOURCE = { url: 'https://docs.gladia.io/api-reference/v2/live/init', date: '2026-11-23' };
const KEEPING = [{ retention: 'kept' }, { retention: 'none', agreement: true }] as const;

export const models = modelCards(
  'gladia',
  {
    created: 1_740_000_000,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: true,
      language_detection: true,
    },
    // https://docs.gladia.io/api-reference/v2/live/init
    sampleRates: [8_000, 16_000, 32_000, 44_100, 48_000],
    // https://docs.gladia.io/chapters/limits-and-specifications/supported-formats: 1000 MB, 135 minutes.
    fileBytesMax: 1_000_000_000,
    // https://docs.gladia.io/chapters/limits-and-specifications/supported-formats
    fileFormats: [...COMMON_FILE_FORMATS, 'aac', 'mp2'],
    fileSecondsMax: 8_100,
    // Of the plan without a commitment, for an hour by 60; each channel of a file is billed.
    priceSource: { url: 'https://www.gladia.io/pricing', date: '2026-05-19' },
    // The region of a live session may be requested; of files no document names one. Kept up to twelve months, or not at all by contract:
    // https://docs.gladia.io/chapters/limits-and-specifications/data-retention
    processing: [
      ...processedIn(SOURCE, [{ region: 'unknown' }], KEEPING),
      ...processedIn(
        SOURCE,
        [
          { region: 'eu', endpoints: ['eu-west'] },
          { region: 'us', endpoints: ['us-west'] },
        ],
        KEEPING.map((kept) => ({ ...kept, modes: ['live'] })),
      ),
    ],
  },
  [
    {
      id: 'solaria-1',
      name: 'Solaria-1',
      description:
        'About 100 languages, with switching between them. Live turns end at silence; to end a turn at once, the gateway sends silence, which is billed.',
      languages: LANGUAGES,
      canLive: { diarization: false },
      live: '0.0125',
      batch: '0.010167',
    },
  ],
);
