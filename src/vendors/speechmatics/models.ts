// Catalogue rows of Speechmatics. Unverified: which model the public price is of. The vendor's page names plans ("Pro, from 0.24 USD
// an hour"), so the smaller model has that price, and the larger the highest one that a public list names for it. `melia-1` is not
// listed: it is a preview live, and nobody names its price. Other parts of the sheet that no recording confirms are read leniently:
// the close code behind an `Error` decides only where its type is not known, and a final without results is silence.
import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import { bearer, keyCheck, providerApi } from '../kit/api.ts';
import { at, modelCards, processedIn } from '../kit/cards.ts';
import type { ProviderAccess } from '../kit/provider.ts';

/**
 * Files and live sessions have hosts of their own, all of which take every key; `au` hears files only:
 * https://docs.speechmatics.com/administration/regions
 */
export const ENDPOINTS = { names: ['eu', 'us', 'au'], usual: 'eu', oneKey: true } as const;

const regionOf = ({ fields }: ProviderAccess): string => fields?.region ?? 'eu';

export const api = providerApi({
  url: (access) => `https://${regionOf(access)}1.asr.api.speechmatics.com`,
  liveUrl: (access) => `wss://${regionOf(access)}.rt.speechmatics.com`,
  headers: bearer,
});

/** It lists the newest job to whoever has the key: https://docs.speechmatics.com/api-ref/batch/list-jobs */
export const credentialCheck = keyCheck(api, '/v2/jobs', { limit: 1 });

/** https://docs.speechmatics.com/speech-to-text/languages, read 2026-08-13; Mandarin is `cmn` there. */
export const LANGUAGES: readonly string[] =
  `ar ba be bg bn ca cs cy da de el en eo es et eu fa fi fr ga gl he hi hr hu ia id it ja ko lt lv mn mr ms mt nl no pl pt ro ru
  sk sl sv sw ta th tl tr ug uk ur vi yue zh`.split(/\s+/);

const OWN: Readonly<Record<string, string>> = { zh: 'cmn', nb: 'no', nn: 'no', fil: 'tl' };
const LOCALES: readonly string[] = ['en-GB', 'en-US', 'en-AU'];

/** The members that a language becomes. One has to be named: English where none was. */
export function languageOf(language = 'en'): { language: string; output_locale?: string } {
  const [base = 'en'] = language.toLowerCase().split('-');
  const locale = LOCALES.find((each) => each.toLowerCase() === language.toLowerCase());
  return { language: OWN[base] ?? base, ...(locale === undefined ? {} : { output_locale: locale }) };
}

/** The BCP-47 language of a code of theirs. */
export const heardLanguage = (code: string | undefined): string | undefined => (code === 'cmn' ? 'zh' : code);

const common = { languages: LANGUAGES };

const SOURCE = { url: 'https://docs.speechmatics.com/administration/regions', date: '2026-11-23' };

export const models = modelCards(
  'speechmatics',
  {
    created: 1_750_000_000,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: false,
      // Of files alone: `language=auto` is passed on there.
      language_detection: false,
    },
    sampleRates: [8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000],
    // https://docs.speechmatics.com/speech-to-text/batch/limits
    fileBytesMax: 1_000_000_000,
    // https://docs.speechmatics.com/speech-to-text/batch/input
    fileFormats: [...COMMON_FILE_FORMATS, 'aac', 'amr', 'mp2'],
    priceSource: { url: 'https://www.speechmatics.com/pricing', date: '2026-05-19' },
    // A key opens all regions. Live audio is not stored; jobs are, for seven days or until the gateway deletes them.
    processing: [
      ...processedIn(SOURCE, [at('eu'), at('us')], [{ modes: ['live'], retention: 'none' }]),
      ...processedIn(SOURCE, ENDPOINTS.names.map(at), [{ modes: ['batch'], retention: 'kept' }]),
    ],
  },
  [
    {
      id: 'enhanced',
      name: 'Enhanced',
      description: 'The larger model, in more than 50 languages. Turns end at silence or on request.',
      ...common,
      live: '0.0067',
      batch: '0.0050',
      priceDate: '2026-06-12',
    },
    {
      id: 'standard',
      name: 'Standard',
      description: 'The smaller model, in more than 50 languages. Turns end at silence or on request.',
      ...common,
      live: '0.0040',
      batch: '0.0040',
    },
  ],
);
