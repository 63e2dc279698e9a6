// Catalogue rows of AssemblyAI, and what sets its live models apart on the wire.
import type { Capabilities } from '../../api/models.ts';
import type { ModelCard } from '../provider.ts';

/**
 * How a live model speaks. Universal-Streaming and Whisper settle word by word and leave the last words out of
 * `transcript`; Universal-3 writes the whole turn so far and settles nothing before its end.
 */
export interface LiveTraits {
  partials: 'words' | 'transcript';
  /** Whether `format_turns` is known: then a formatted final may follow the final. */
  formatTurns: boolean;
  languageDetection: boolean;
  /** The languages that `language_codes` may name; empty where the model does not know it. */
  languageCodes: readonly string[];
}

const traits = (has: Partial<LiveTraits>): LiveTraits => ({
  partials: 'words',
  formatTurns: false,
  languageDetection: true,
  languageCodes: [],
  ...has,
});

const SIX_LANGUAGES = ['en', 'es', 'fr', 'de', 'it', 'pt'];
/** https://www.assemblyai.com/docs/faq/language-support-for-real-time-transcription */
const UNIVERSAL_35_LANGUAGES = [
  ...SIX_LANGUAGES,
  ...['tr', 'nl', 'sv', 'no', 'da', 'fi', 'hi', 'vi', 'ar', 'he', 'ja', 'ur', 'zh'],
];

const LIVE: Readonly<Record<string, LiveTraits>> = {
  'universal-streaming-english': traits({ formatTurns: true, languageDetection: false }),
  'universal-streaming-multilingual': traits({}),
  'u3-rt-pro': traits({ partials: 'transcript' }),
  'universal-3-5-pro': traits({ partials: 'transcript', languageCodes: UNIVERSAL_35_LANGUAGES }),
  'whisper-rt': traits({ formatTurns: true }),
};

export const hasLive = (model: string): boolean => Object.hasOwn(LIVE, model);

/** The traits of a model; of one without a live mode, those that ask for nothing. */
export const liveTraitsOf = (model: string): LiveTraits =>
  (hasLive(model) ? LIVE[model] : undefined) ?? traits({ languageDetection: false });

const ADD_ONS = 'AssemblyAI charges extra for speakers and key terms, which this price does not hold.';
const METERED = `Billed is how long the connection is open, as AssemblyAI meters it. ${ADD_ONS}`;

interface Row {
  id: string;
  name: string;
  description: string;
  languages: string[];
  capabilities?: Partial<Capabilities>;
  /** USD for a minute: AssemblyAI's list price for an hour by 60. */
  prices: { live?: string; batch?: string };
}

function row({ id, name, description, languages, capabilities, prices }: Row): ModelCard {
  const isBatch = prices.batch !== undefined;
  return {
    id: `assemblyai/${id}`,
    created: 1_785_542_400,
    name,
    description,
    modes: [...(isBatch ? (['batch'] as const) : []), ...(prices.live === undefined ? [] : (['live'] as const))],
    languages,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: prices.live !== undefined,
      formatting: true,
      redaction: true,
      language_detection: true,
      ...capabilities,
    },
    audio: {
      sample_rates: [8000, 16000, 24000, 44100, 48000],
      encodings: ['linear16'],
      // Of an upload: https://www.assemblyai.com/docs (FAQ on limits).
      max_file_bytes: isBatch ? 2_200_000_000 : null,
      max_seconds: isBatch ? 36_000 : null,
    },
    pricing: {
      currency: 'USD',
      ...(prices.batch === undefined ? {} : { batch: { unit: 'minute', amount: prices.batch, byok: '0.00' } }),
      ...(prices.live === undefined
        ? {}
        : { live: { unit: 'minute', amount: prices.live, byok: '0.00', metered: 'connection' } }),
    },
    priceSource: { url: 'https://www.assemblyai.com/pricing', date: '2026-08-01' },
  };
}

export const models: readonly ModelCard[] = [
  row({
    id: 'universal-streaming-english',
    name: 'Universal-Streaming English',
    description: `English, word by word, with turns that end by confidence or silence. \`format_turns\` adds punctuation. ${METERED}`,
    languages: ['en'],
    capabilities: { language_detection: false },
    prices: { live: '0.0025' },
  }),
  row({
    id: 'universal-streaming-multilingual',
    name: 'Universal-Streaming Multilingual',
    description: `Six languages, word by word, formatted by the model. ${METERED}`,
    languages: SIX_LANGUAGES,
    prices: { live: '0.0025' },
  }),
  row({
    id: 'u3-rt-pro',
    name: 'Universal-3 Pro Realtime',
    description: `Six languages and switching between them, with prompts; interims come in pauses only. ${METERED}`,
    languages: SIX_LANGUAGES,
    prices: { live: '0.0075' },
  }),
  row({
    id: 'universal-3-5-pro',
    name: 'Universal-3.5 Pro',
    description: `Live and for files, with prompts and switching between languages; live interims come in pauses only. ${METERED}`,
    languages: UNIVERSAL_35_LANGUAGES,
    prices: { live: '0.0075', batch: '0.0035' },
  }),
  row({
    id: 'whisper-rt',
    name: 'Whisper Streaming',
    description: `99 languages, which it detects itself. \`format_turns\` adds punctuation. ${METERED}`,
    languages: ['*'],
    prices: { live: '0.005' },
  }),
  row({
    id: 'universal-2',
    name: 'Universal-2',
    description: `Files in 99 languages. Live, each utterance is a job of its own, whose final comes some seconds after it. ${ADD_ONS}`,
    languages: ['*'],
    prices: { batch: '0.0025' },
  }),
];
