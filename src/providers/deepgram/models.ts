// Catalogue rows of Deepgram. A model is listed once its price can be cited: Nova-2 and the medical models are not.
import type { ModelCard } from '../provider.ts';
import { NOVA_LANGUAGES, SWITCHING_LANGUAGES } from './languages.ts';

/** Pay as you go, per minute of audio. */
const PRICE_SOURCE = { url: 'https://deepgram.com/pricing', date: '2026-08-01' } as const;

const price = (amount: string) => ({ unit: 'minute', amount, byok: '0.00' }) as const;

const fluxRow = (id: string, name: string, languages: readonly string[], amount: string): ModelCard => ({
  id: `deepgram/${id}`,
  created: 1_760_572_800,
  name,
  description:
    'Ends turns by what is said and not by silence alone: for voice agents. Partial text comes about four times a second.',
  modes: ['live'],
  languages: [...languages],
  capabilities: {
    diarization: false,
    word_timestamps: true,
    interim_results: true,
    formatting: true,
    redaction: true,
    language_detection: languages.length > 1,
  },
  audio: {
    sample_rates: [8_000, 16_000, 24_000, 44_100, 48_000],
    encodings: ['linear16'],
    max_file_bytes: null,
    max_seconds: null,
  },
  pricing: { currency: 'USD', live: price(amount) },
  priceSource: PRICE_SOURCE,
});

export const models: readonly ModelCard[] = [
  {
    id: 'deepgram/nova-3',
    created: 1_738_368_000,
    name: 'Nova-3',
    description:
      'General speech in one language, or with `language=auto` in ten between which speakers may switch. Turns end at silence.',
    modes: ['batch', 'live'],
    languages: [...NOVA_LANGUAGES],
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: true,
      language_detection: true,
    },
    audio: {
      sample_rates: [8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000],
      encodings: ['linear16'],
      max_file_bytes: 2_000_000_000,
      max_seconds: null,
    },
    // The price of one language. Code switching (0.0058 live, 0.0092 batch) and speakers (0.0020 more) cost the provider's
    // customer more, which one price for each mode cannot say.
    pricing: { currency: 'USD', batch: price('0.0077'), live: price('0.0048') },
    priceSource: PRICE_SOURCE,
  },
  fluxRow('flux-general-en', 'Flux English', ['en'], '0.0065'),
  fluxRow('flux-general-multi', 'Flux Multilingual', SWITCHING_LANGUAGES, '0.0078'),
];
