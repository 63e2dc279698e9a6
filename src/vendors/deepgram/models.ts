// Catalogue rows of Deepgram. A model is listed once its price can be cited: medical and pharmaceutical ones of Nova-3 are not.
// Unverified of Nova-2: whether it knows `diarize_model`, as it is written for all models alike.
import { at, modelCards, processedIn } from '../kit/cards.ts';
import { ENDPOINTS } from './api.ts';

/** Languages of Flux Multilingual, between which Nova-3 may switch as well. */
export const SWITCHING_LANGUAGES: readonly string[] = ['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl'];

/** https://developers.deepgram.com/docs/models-languages-overview and its changelog, to September 2026. */
export const NOVA_LANGUAGES: readonly string[] =
  'en es fr de hi ru pt ja it nl ar be bg bn bs ca cs da el et fa fi gu he hr hu id kn ko lt lv mk mr ms ne no pa pl ro sk sl sr sv ta te th tl tr uk ur vi zh'.split(
    ' ',
  );

/** Of the model for all purposes; its variants hear English alone. */
export const NOVA_2_LANGUAGES: readonly string[] =
  'en es fr de hi ru pt ja it nl bg ca cs da el et fi hu id ko lt lv ms no pl ro sk sv th tr uk vi zh'.split(' ');

/** Tags with a region or script that Nova has a model for. Others are sent as their language. */
const NOVA_VARIANTS: readonly string[] =
  'en-US en-AU en-GB en-IN en-NZ es-419 fr-CA gu-IN pt-BR pt-PT de-CH nl-BE sv-SE da-DK ko-KR th-TH zh-CN zh-Hans zh-TW zh-Hant zh-HK'.split(
    ' ',
  );

/** What the model calls the language of a tag; undefined when it does not know it, and hears English instead. */
export function novaLanguage(tag: string, model: string): string | undefined {
  const base = baseOf(tag);
  if (!languagesOf(model).includes(base)) return undefined;
  return NOVA_VARIANTS.find((known) => known.toLowerCase() === tag.toLowerCase()) ?? base;
}

function languagesOf(model: string): readonly string[] {
  if (!model.startsWith('nova-2')) return NOVA_LANGUAGES;
  return model === 'nova-2' ? NOVA_2_LANGUAGES : ['en'];
}

/** What Flux Multilingual is told to expect for a tag; undefined when it does not know the language. */
export function fluxHint(tag: string): string | undefined {
  const base = baseOf(tag);
  return SWITCHING_LANGUAGES.includes(base) ? base : undefined;
}

const baseOf = (tag: string): string => tag.toLowerCase().split('-')[0] as string;

/** What models of Nova-2 that hear English alone were made for. */
const NOVA_2_FOR: Readonly<Record<string, string>> = {
  meeting: 'meetings, with several people at one microphone',
  phonecall: 'telephone calls',
  finance: 'earnings calls',
  conversationalai: 'people who talk to a bot or a kiosk',
  voicemail: 'voicemail',
  video: 'the sound of videos',
  medical: 'medical vocabulary',
  drivethru: 'drive-throughs',
  automotive: 'automotive vocabulary',
};
const NOVA_3_MODELS: readonly string[] = ['nova-3'];
export const NOVA_2_MODELS: readonly string[] = ['nova-2', ...Object.keys(NOVA_2_FOR).map((use) => `nova-2-${use}`)];
export const NOVA_MODELS: readonly string[] = [...NOVA_3_MODELS, ...NOVA_2_MODELS];
export const FLUX_MODELS: readonly string[] = ['flux-general-en', 'flux-general-multi'];

/** Models that are told of terms without weights. */
export const KEYTERM_MODELS: readonly string[] = [...NOVA_3_MODELS, ...FLUX_MODELS];

export const isFlux = (model: string): boolean => FLUX_MODELS.includes(model);

/** Beside the price, as https://deepgram.com/pricing lists them for pay as you go, read by others on 2026-10-06. */
const KEY_TERMS = { name: 'Key terms', amount: '0.0013', asked_by: ['provider_params.keyterm'] };
const SPEAKERS = { name: 'Speakers', amount: '0.0020', asked_by: ['diarization', 'provider_params.diarize_model'] };
const REDACTION = { name: 'Redaction', amount: '0.0020', asked_by: ['provider_params.redact'] };
/** Live only: files in a language that is to be found are heard in one. */
const SWITCHING = { name: 'Switching between languages', amount: '0.0015', asked_by: ['language=auto'] };

const FLUX = {
  description:
    'Ends turns by content, not only by silence: for voice agents. Interims arrive about four times a second.',
  created: 1_760_572_800,
  sampleRates: [8_000, 16_000, 24_000, 44_100, 48_000],
  addOns: { live: [KEY_TERMS, REDACTION] },
};

/** Pay as you go. Of the live prices that are told in public (0.0058, 0.0059) the higher. */
const NOVA_2 = {
  created: 1_694_563_200,
  batch: '0.0043',
  live: '0.0059',
  priceDate: '2026-11-23',
  addOns: { live: [SPEAKERS, REDACTION], batch: [SPEAKERS, REDACTION] },
};

/**
 * Regional endpoints take every key. Without the opt-out audio is kept, and may leave the region to improve models: only with it a
 * request stays there, and nothing is kept.
 */
const SOURCE = { url: 'https://developers.deepgram.com/trust-security/your-data', date: '2026-11-23' };
const ANYWHERE = { region: 'global' } as const;
const PROCESSING = [
  ...processedIn(SOURCE, [ANYWHERE], [{ retention: 'kept' }]),
  ...processedIn(
    SOURCE,
    [ANYWHERE, ...ENDPOINTS.names.map(at)],
    [{ retention: 'none', params: { mip_opt_out: true } }],
  ),
];

export const models = modelCards(
  'deepgram',
  {
    created: 1_738_368_000,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: true,
      language_detection: true,
    },
    sampleRates: [8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000],
    fileBytesMax: 2_000_000_000,
    // Pay as you go, per minute of audio.
    priceSource: { url: 'https://deepgram.com/pricing', date: '2026-08-01' },
    processing: PROCESSING,
  },
  [
    {
      id: 'nova-3',
      name: 'Nova-3',
      description:
        'General speech in one language, or with `language=auto` in ten between which speakers may switch. Turns end at silence.',
      languages: NOVA_LANGUAGES,
      switching: SWITCHING_LANGUAGES,
      // The regular live price. Deepgram asks 0.0048 "for a limited time", which may end without a word, and every minute then
      // be billed for less than it costs; whoever wants to pass it on names it in the prices file.
      batch: '0.0043',
      live: '0.0077',
      priceDate: '2026-09-21',
      addOns: { live: [KEY_TERMS, SPEAKERS, REDACTION, SWITCHING], batch: [KEY_TERMS, SPEAKERS, REDACTION] },
    },
    {
      id: 'nova-2',
      name: 'Nova-2',
      description:
        'The generation before Nova-3, in one language: for languages that Nova-3 does not support. Turns end at silence.',
      languages: NOVA_2_LANGUAGES,
      ...NOVA_2,
    },
    ...Object.entries(NOVA_2_FOR).map(([use, what]) => ({
      id: `nova-2-${use}`,
      name: `Nova-2 ${use}`,
      description: `Nova-2 for ${what}: in English. Turns end at silence.`,
      languages: ['en'],
      ...NOVA_2,
      can: { language_detection: false },
      isForOnePurpose: true as const,
    })),
    {
      id: 'flux-general-en',
      name: 'Flux English',
      ...FLUX,
      languages: ['en'],
      live: '0.0065',
      can: { diarization: false, language_detection: false },
    },
    {
      id: 'flux-general-multi',
      name: 'Flux Multilingual',
      ...FLUX,
      languages: SWITCHING_LANGUAGES,
      live: '0.0078',
      can: { diarization: false },
    },
  ],
);
