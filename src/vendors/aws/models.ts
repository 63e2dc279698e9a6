// Catalogue rows of Amazon Transcribe. Unverified, and read leniently: the rate, which is that of us-east-1 and the first tier, how long
// the silence is that ends a result, and after how many seconds without audio a session fails. Files are not offered: jobs
// read from and write to S3, and a stream takes audio as it is spoken.
import type { NamedRegion } from '../../api/residency-rule.ts';
import { modelCards, processedIn } from '../kit/cards.ts';
import { REGIONS } from './api.ts';

const LOCALES = (
  'en-US en-GB en-AU en-IN en-IE en-NZ en-AB en-ZA en-WL es-US es-ES fr-FR fr-CA de-DE de-CH it-IT pt-BR pt-PT ja-JP ko-KR zh-CN zh-HK ' +
  'zh-TW hi-IN th-TH ar-SA ar-AE ca-ES nl-NL no-NO sv-SE pl-PL fi-FI af-ZA eu-ES hr-HR cs-CZ da-DK fa-IR gl-ES el-GR he-IL id-ID lv-LV ' +
  'ms-MY ro-RO ru-RU sr-RS sk-SK so-SO tl-PH uk-UA vi-VN zu-ZA'
).split(' ');
const SAME: Readonly<Record<string, string>> = {
  nb: 'no',
  'nb-no': 'no-NO',
  fil: 'tl',
  iw: 'he',
  cmn: 'zh',
  yue: 'zh-HK',
};

const baseOf = (locale: string): string => locale.split('-')[0] as string;

export const LANGUAGES: readonly string[] = [...new Set([...LOCALES.map(baseOf), ...LOCALES])];

/** Among which a language is found where none are named. */
export const USUAL = ['en-US', 'es-US', 'fr-FR', 'de-DE', 'pt-BR'];

/** The locale of a language. */
export function localeOf(language: string): string {
  const asked = SAME[language.toLowerCase()] ?? language;
  const exact = LOCALES.find((locale) => locale.toLowerCase() === asked.toLowerCase());
  return exact ?? LOCALES.find((locale) => baseOf(locale) === baseOf(asked.toLowerCase())) ?? asked;
}

/** Locales of different languages, up to five; undefined for fewer than two, between which there is nothing to find. */
export function severalLocales(languages: readonly string[]): string[] | undefined {
  const byBase = new Map<string, string>();
  for (const locale of languages.map(localeOf)) if (!byBase.has(baseOf(locale))) byBase.set(baseOf(locale), locale);
  return byBase.size < 2 ? undefined : [...byBase.values()].slice(0, 5);
}

const PLACES = Object.entries(REGIONS).map(([region, endpoints]) => ({ region: region as NamedRegion, endpoints }));

/**
 * Redaction and models of the account are charged beside the price, as https://docs.aws.amazon.com/transcribe/latest/dg/what-is.html says
 * (2026-11-23): redaction as others read the page of prices by 2026-11, the model's first tier from memory. Speakers, languages that
 * are found, vocabularies and filters are no rows of that page: they cost nothing more.
 */
const REDACTION = {
  name: 'Redaction',
  amount: '0.0024',
  asked_by: ['provider_params.content_redaction', 'provider_params.pii_entity_types'],
};
const OWN_MODEL = {
  name: 'Custom language model',
  amount: '0.0060',
  asked_by: ['provider_params.language_model_name'],
};

export const models = modelCards(
  'aws',
  {
    created: 1_700_000_000,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: true,
      language_detection: true,
    },
    sampleRates: [8_000, 16_000, 24_000, 44_100, 48_000],
    // By the second, and 15 seconds at least of each request: a session that comes back to it after a failover is billed them again.
    livePrice: { minimum: '0.0060' },
    priceSource: { url: 'https://aws.amazon.com/transcribe/pricing/', date: '2026-05-19' },
    // What is kept for the improvement of services may be kept in another region, unless the account has opted out.
    processing: processedIn(
      {
        url: 'https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_ai-opt-out.html',
        date: '2026-11-23',
      },
      PLACES,
      [{ retention: 'kept' }, { retention: 'none', agreement: true }],
    ),
  },
  [
    {
      id: 'transcribe',
      name: 'Amazon Transcribe',
      description:
        'Streaming, in more than 50 locales. A session costs at least 15 seconds. Silence is billed. Turns end at silence; to end a turn at once, the gateway sends silence. `language=auto` detects one of five languages, or those of `language_options`.',
      languages: LANGUAGES,
      live: '0.0240',
      addOns: { live: [REDACTION, OWN_MODEL] },
    },
  ],
);
