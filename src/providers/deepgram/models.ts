// Catalogue rows of Deepgram. A model is listed once its price can be cited: Nova-2 and the medical models are not.

import { at, modelCards, processedIn } from '../kit/cards.ts';
import { ENDPOINTS } from './api.ts';
import { NOVA_LANGUAGES, SWITCHING_LANGUAGES } from './languages.ts';

export const NOVA_MODELS: readonly string[] = ['nova-3'];
export const FLUX_MODELS: readonly string[] = ['flux-general-en', 'flux-general-multi'];

export const isFlux = (model: string): boolean => FLUX_MODELS.includes(model);

const FLUX = {
  description:
    'Ends turns by what is said and not by silence alone: for voice agents. Partial text comes about four times a second.',
  created: 1_760_572_800,
  sampleRates: [8_000, 16_000, 24_000, 44_100, 48_000],
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
      // be billed for less than it costs; whoever wants to pass it on names it in the prices file. Of one language each: code
      // switching (0.0092 live, 0.0058 for now; 0.0052 for files) and speakers (0.0020 more) cost more, which one price for
      // each mode cannot say.
      batch: '0.0043',
      live: '0.0077',
      priceDate: '2026-09-21',
    },
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
