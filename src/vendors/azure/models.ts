// Catalogue rows of Azure. Unverified, and read leniently: the protocol of live sessions has no public reference, and is known from the
// official client; how long the pause is that ends a turn, when an idle connection is closed, what silence a request is ended for
// and what its last phrase says of its place. Of the session's length only an older document speaks. Not offered: speakers and
// languages found live, which are on another path and billed on top (0.30 an hour each).
import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import type { NamedRegion } from '../../api/residency-rule.ts';
import { modelCards, processedIn } from '../kit/cards.ts';
import { REGIONS } from './api.ts';

const LOCALE_NAMES =
  'af-ZA am-ET ar-EG ar-AE ar-BH ar-DZ ar-IL ar-IQ ar-JO ar-KW ar-LB ar-LY ar-MA ar-OM ar-PS ar-QA ar-SA ar-SY ar-TN ar-YE as-IN az-AZ ' +
  'bg-BG bn-IN bs-BA ca-ES cs-CZ cy-GB da-DK de-DE de-AT de-CH el-GR en-US en-AU en-CA en-GB en-GH en-HK en-IE en-IN en-KE en-NG en-NZ ' +
  'en-PH en-SG en-TZ en-ZA es-ES es-AR es-BO es-CL es-CO es-CR es-CU es-DO es-EC es-GQ es-GT es-HN es-MX es-NI es-PA es-PE es-PR es-PY ' +
  'es-SV es-US es-UY es-VE et-EE eu-ES fa-IR fi-FI fil-PH fr-FR fr-BE fr-CA fr-CH ga-IE gl-ES gu-IN he-IL hi-IN hr-HR hu-HU hy-AM id-ID ' +
  'is-IS it-IT it-CH ja-JP jv-ID ka-GE kk-KZ km-KH kn-IN ko-KR lo-LA lt-LT lv-LV mk-MK ml-IN mn-MN mr-IN ms-MY mt-MT my-MM nb-NO ne-NP ' +
  'nl-NL nl-BE or-IN pa-IN pl-PL ps-AF pt-BR pt-PT ro-RO ru-RU si-LK sk-SK sl-SI so-SO sq-AL sr-RS sv-SE sw-KE sw-TZ ta-IN te-IN th-TH ' +
  'tr-TR uk-UA ur-IN uz-UZ vi-VN zh-CN zh-HK zh-TW zu-ZA';
const LOCALES = LOCALE_NAMES.split(' ');
/** Names of the same language. */
const SAME: Readonly<Record<string, string>> = { no: 'nb', tl: 'fil', iw: 'he', in: 'id', cmn: 'zh', yue: 'zh-HK' };

const baseOf = (locale: string): string => locale.split('-')[0] as string;

export const LANGUAGES: readonly string[] = [...new Set([...LOCALES.map(baseOf), ...LOCALES])];

/** The locale of a language, which the service has to be told; undefined where none is named. */
export function localeOf(language: string | undefined): string | undefined {
  if (language === undefined || language === 'auto') return undefined;
  const asked = SAME[language.toLowerCase()] ?? language;
  const exact = LOCALES.find((locale) => locale.toLowerCase() === asked.toLowerCase());
  return exact ?? LOCALES.find((locale) => baseOf(locale) === baseOf(asked.toLowerCase())) ?? asked;
}

const PLACES = Object.entries(REGIONS).map(([region, endpoints]) => ({ region: region as NamedRegion, endpoints }));

/** 1.20 an hour in place of 1.00. Phrases cost nothing more; speakers and languages of files neither, which are dear live alone. */
const OWN_MODEL = { name: 'Custom speech', amount: '0.0034', asked_by: ['provider_params.custom_endpoint_id'] };

export const models = modelCards(
  'azure',
  {
    created: 1_700_000_000,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: false,
      language_detection: false,
    },
    sampleRates: [8_000, 16_000],
    // https://learn.microsoft.com/azure/ai-services/speech-service/speech-services-quotas-and-limits
    fileBytesMax: 300_000_000,
    // https://learn.microsoft.com/azure/ai-services/speech-service/batch-transcription-audio-data
    fileFormats: [...COMMON_FILE_FORMATS, 'aac', 'amr', 'wma'],
    fileSecondsMax: 7_200,
    // By the hour, of `eastus`: "S1 Speech To Text" 1.00, "S1 Custom Speech To Text" 1.20, "Fast Transcription Speech To Text" 0.36, as
    // Azure's price interface told others on that day (https://prices.azure.com/api/retail/prices). The page shows the same meters.
    priceSource: {
      url: 'https://azure.microsoft.com/pricing/details/cognitive-services/speech-services/',
      date: '2026-09-29',
    },
    // Nothing is stored of live sessions and fast transcription unless the resource logs, which the gateway never asks for.
    processing: processedIn(
      {
        url: 'https://learn.microsoft.com/azure/ai-foundry/responsible-ai/speech-service/speech-to-text/data-privacy-security',
        date: '2026-11-23',
      },
      PLACES,
      [{ retention: 'none' }],
    ),
  },
  [
    {
      id: 'speech',
      name: 'Azure Speech',
      description:
        'Live, and fast transcription of files, in more than 100 languages and regions. Silence is billed too. Turns end at silence; to end a turn at once, the gateway sends silence.',
      languages: LANGUAGES,
      canLive: { diarization: false },
      live: '0.0167',
      batch: '0.0060',
      addOns: { live: [OWN_MODEL] },
    },
  ],
);
