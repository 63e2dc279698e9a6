// Catalogue rows of Google's Speech-to-Text v2. Unverified, and read leniently: how much silence ends a turn, after how much silence a
// call is ended, whether an API key works for calls, the exact languages of each model in each location, and that a message of
// 15,000 bytes is never too large (its documents say 25 KB, and once 15 KB).
import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import { at, modelCards, processedIn } from '../kit/cards.ts';

const words = (text: string): readonly string[] => text.split(/\s+/);

/** https://cloud.google.com/speech-to-text/v2/docs/chirp_3-model, those in preview with them. */
const CHIRP = words(
  `af am ar as az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr gl gu ha he hi hr hu hy id is it ja jv ka kk km kn ko ky lb
  lo lt lv mk ml mn mr ms mt my ne nl no pa pl ps pt ro ru si sk sl sn so sq sr su sv sw ta te tg th tr uk ur uz vi yo zh zu`,
);

/** https://cloud.google.com/speech-to-text/v2/docs/speech-to-text-supported-languages */
const LONG = words(
  `af am ar az bg bn bs ca cs da de el en es et eu fa fi fil fr gl gu he hi hr hu hy id is it ja jv ka kk km kn ko lo lt lv mk ml mn mr
  ms my ne nl no pa pl pt ro ru si sk sl sq sr su sv sw ta te th tr uk ur uz vi zh zu`,
);
const TELEPHONY = words('ar cs da de en es fi fr hi id it ja ko nl no pl pt ro ru sv th tr uk vi zh');

/** By default nothing is logged: https://cloud.google.com/speech-to-text/docs/data-logging */
const processed = (...places: Parameters<typeof processedIn>[1]) =>
  processedIn(
    { url: 'https://cloud.google.com/speech-to-text/v2/docs/chirp_3-model', date: '2026-11-23' },
    [...places, { region: 'sg', endpoints: ['asia-southeast1'] }],
    [{ retention: 'none' }],
  );
const EVERYWHERE = processed(
  { region: 'global' },
  at('us'),
  at('eu'),
  { region: 'us', endpoints: ['us-central1'] },
  { region: 'eu', endpoints: ['europe-west3', 'europe-west4'] },
  { region: 'uk', endpoints: ['europe-west2'] },
  { region: 'jp', endpoints: ['asia-northeast1'] },
  { region: 'in', endpoints: ['asia-south1'] },
  { region: 'ca', endpoints: ['northamerica-northeast1'] },
);

const price = { live: '0.016', batch: '0.016' };

export const models = modelCards(
  'google',
  {
    created: 1_690_000_000,
    capabilities: {
      diarization: false,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: false,
      language_detection: false,
    },
    // https://cloud.google.com/speech-to-text/v2/docs/quotas: 10 MB or a minute, whichever is first, without cloud storage.
    sampleRates: [8_000, 16_000, 24_000, 32_000, 44_100, 48_000],
    processing: EVERYWHERE,
    fileBytesMax: 10_000_000,
    // https://cloud.google.com/speech-to-text/v2/docs/encoding
    fileFormats: [...COMMON_FILE_FORMATS, 'amr'],
    fileSecondsMax: 60,
    // The first tier of standard recognition; each channel of a file is billed. Nothing else is charged on its own: phrases, several
    // languages and cleaned audio are part of it, and no row of the page of prices.
    priceSource: { url: 'https://cloud.google.com/speech-to-text/pricing', date: '2026-05-19' },
  },
  [
    {
      id: 'chirp_3',
      name: 'Chirp 3',
      description:
        'The newest model for about 85 languages, and detects them. Without times of words; files up to a minute.',
      languages: CHIRP,
      created: 1_750_000_000,
      can: { word_timestamps: false, language_detection: true },
      processing: processed(
        { region: 'us' },
        at('us'),
        at('eu'),
        { region: 'eu', endpoints: ['europe-west3'] },
        { region: 'uk', endpoints: ['europe-west2'] },
        { region: 'jp', endpoints: ['asia-northeast1'] },
        { region: 'in', endpoints: ['asia-south1'] },
        { region: 'ca', endpoints: ['northamerica-northeast1'] },
      ),
      ...price,
    },
    {
      id: 'chirp_2',
      name: 'Chirp 2',
      description: 'The previous model, with times of words. Files up to a minute.',
      languages: CHIRP,
      created: 1_727_000_000,
      can: { language_detection: true },
      processing: processed(
        { region: 'us' },
        { region: 'us', endpoints: ['us-central1'] },
        { region: 'eu', endpoints: ['europe-west4'] },
      ),
      ...price,
    },
    {
      id: 'long',
      name: 'Long',
      description: 'Speech of any length, such as meetings and media. Files up to a minute.',
      languages: LONG,
      ...price,
    },
    {
      id: 'short',
      name: 'Short',
      description: 'Commands and short utterances. Files up to a minute.',
      languages: LONG,
      isForOnePurpose: true,
      ...price,
    },
    {
      id: 'telephony',
      name: 'Telephony',
      description: 'Telephone calls, at 8 kHz. Files up to a minute.',
      languages: TELEPHONY,
      isForOnePurpose: true,
      ...price,
    },
  ],
);
