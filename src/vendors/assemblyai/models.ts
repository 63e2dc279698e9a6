// Catalogue rows of AssemblyAI, and what sets its live models apart on the wire.
import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import { at, modelCards, processedIn } from '../kit/cards.ts';

/**
 * How a live model speaks. Universal-Streaming and Whisper settle word by word and leave the last words out of
 * `transcript`; Universal-3 writes the whole turn so far and settles nothing before its end.
 */
export interface LiveTraits {
  partials: 'words' | 'transcript';
  /** Whether `format_turns` is known: then a formatted final may follow the final. */
  formatTurns: boolean;
  languageDetection: boolean;
  /** What it says of silence, in place of nothing. */
  silence: RegExp | undefined;
  /** The languages that `language_codes` may name; empty where the model does not know it. */
  languageCodes: readonly string[];
}

const traits = (has: Partial<LiveTraits>): LiveTraits => ({
  partials: 'words',
  formatTurns: false,
  languageDetection: true,
  silence: undefined,
  languageCodes: [],
  ...has,
});

const SIX_LANGUAGES = ['en', 'es', 'fr', 'de', 'it', 'pt'];
/** https://www.assemblyai.com/docs/faq/language-support-for-real-time-transcription */
const UNIVERSAL_35_LANGUAGES = [
  ...SIX_LANGUAGES,
  ...['tr', 'nl', 'sv', 'no', 'da', 'fi', 'hi', 'vi', 'ar', 'he', 'ja', 'ur', 'zh'],
];

/** As clients of it list them; the vendor says how many there are. */
const UNIVERSAL_36_LANGUAGES =
  'en es fr de it pt af ar ca da et fa fi gl he hi ja ko mr nl nn no ro ru sv tr ur vi xh yue zh zu'.split(' ');

const LIVE: Readonly<Record<string, LiveTraits>> = {
  'universal-streaming-english': traits({ formatTurns: true, languageDetection: false }),
  'universal-streaming-multilingual': traits({}),
  'u3-rt-pro': traits({ partials: 'transcript' }),
  'universal-3-5-pro': traits({ partials: 'transcript', languageCodes: UNIVERSAL_35_LANGUAGES }),
  'universal-3-6-pro': traits({ partials: 'transcript', languageCodes: UNIVERSAL_36_LANGUAGES }),
  'whisper-rt': traits({ formatTurns: true, silence: /^\[\s*silence\s*\]$/i }),
};

export const LIVE_MODELS: readonly string[] = Object.keys(LIVE);
export const FILE_MODELS: readonly string[] = ['universal-3-5-pro', 'universal-2'];

export const hasLive = (model: string): boolean => LIVE_MODELS.includes(model);

/** The traits of a model; of one without a live mode, those that ask for nothing. */
export const liveTraitsOf = (model: string): LiveTraits =>
  (hasLive(model) ? LIVE[model] : undefined) ?? traits({ languageDetection: false });

const METERED = 'Billed by connection time, as metered by AssemblyAI.';

/** The list price for an hour by 60, rounded up: https://www.assemblyai.com/pricing, speakers on 2026-08-01, others by 2026-10-06. */
const LIVE_SPEAKERS = speakers('0.002');
const FILE_SPEAKERS = speakers('0.000334');
/** Of files; what is asked for live audio is not said, and taken to be the same. */
const REDACTION = { name: 'Redaction', amount: '0.001334', asked_by: ['provider_params.redact_pii'] };
/** Unverified: the price that it came with. */
const MEDICAL = { name: 'Medical vocabulary', amount: '0.0025', asked_by: ['provider_params.domain'] };
const keyTerms = (amount: string) => ({ name: 'Key terms', amount, asked_by: ['provider_params.keyterms_prompt'] });

function speakers(amount: string) {
  return { name: 'Speakers', amount, asked_by: ['diarization', 'provider_params.speaker_labels'] };
}

/**
 * A key opens all endpoints. Files go to the US where nothing is said, live audio to the nearest of its regions. Of live audio nothing
 * is kept for accounts that have opted out of model training (`/docs/faq/how-long-does-aai-retain-data`); of files the transcripts are,
 * until the gateway removes them, and uploads up to two days.
 */
const SOURCE = { url: 'https://www.assemblyai.com/docs/streaming/endpoints-and-data-zones', date: '2026-11-23' };
const OPTED_OUT = { modes: ['live'], retention: 'none', agreement: true } as const;
const PROCESSING = [
  ...processedIn(SOURCE, [{ region: 'global' }], [{ modes: ['live'], retention: 'kept' }, OPTED_OUT]),
  ...processedIn(SOURCE, [{ region: 'us' }], [{ modes: ['batch'], retention: 'kept' }]),
  ...processedIn(SOURCE, [at('us'), at('eu')], [{ retention: 'kept' }, OPTED_OUT]),
];

export const models = modelCards(
  'assemblyai',
  {
    created: 1_785_542_400,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: true,
      language_detection: true,
    },
    sampleRates: [8000, 16000, 24000, 44100, 48000],
    // Of an upload: https://www.assemblyai.com/docs (FAQ on limits).
    fileBytesMax: 2_200_000_000,
    // https://www.assemblyai.com/docs/concepts/faq
    fileFormats: [...COMMON_FILE_FORMATS, 'aac', 'aiff', 'amr', 'au', 'mp2', 'wma'],
    fileSecondsMax: 36_000,
    livePrice: { metered: 'connection' },
    // USD for a minute: the list price for an hour by 60.
    priceSource: { url: 'https://www.assemblyai.com/pricing', date: '2026-08-01' },
    processing: PROCESSING,
  },
  [
    {
      id: 'universal-streaming-english',
      addOns: { live: [LIVE_SPEAKERS, REDACTION, MEDICAL, keyTerms('0.000667')] },
      name: 'Universal-Streaming English',
      description: `English, word by word, with turns that end by confidence or silence. \`format_turns\` adds punctuation. ${METERED}`,
      languages: ['en'],
      can: { language_detection: false },
      live: '0.0025',
    },
    {
      id: 'universal-streaming-multilingual',
      addOns: { live: [LIVE_SPEAKERS, REDACTION, MEDICAL] },
      name: 'Universal-Streaming Multilingual',
      description: `Six languages, word by word, formatted by the model. ${METERED}`,
      languages: SIX_LANGUAGES,
      live: '0.0025',
    },
    {
      id: 'u3-rt-pro',
      addOns: { live: [LIVE_SPEAKERS, REDACTION, MEDICAL] },
      name: 'Universal-3 Pro Realtime',
      description: `Six languages and switching between them, with prompts; interims arrive only in pauses. ${METERED}`,
      languages: SIX_LANGUAGES,
      live: '0.0075',
    },
    {
      id: 'universal-3-5-pro',
      addOns: { live: [LIVE_SPEAKERS, REDACTION, MEDICAL], batch: [FILE_SPEAKERS, REDACTION, keyTerms('0.000834')] },
      name: 'Universal-3.5 Pro',
      description: `Live and for files, with prompts and switching between languages; live interims arrive only in pauses. ${METERED}`,
      languages: UNIVERSAL_35_LANGUAGES,
      live: '0.0075',
      batch: '0.0035',
    },
    {
      id: 'universal-3-6-pro',
      addOns: { live: [LIVE_SPEAKERS, REDACTION, MEDICAL] },
      name: 'Universal-3.6 Pro Realtime',
      description: `32 languages and switching between them, with prompts; interims arrive only in pauses. ${METERED}`,
      languages: UNIVERSAL_36_LANGUAGES,
      created: 1_788_307_200,
      live: '0.0075',
      priceDate: '2026-09-29',
    },
    {
      id: 'whisper-rt',
      addOns: { live: [LIVE_SPEAKERS, REDACTION, MEDICAL, keyTerms('0.000667')] },
      name: 'Whisper Streaming',
      description: `99 languages, which it detects itself. \`format_turns\` adds punctuation. ${METERED}`,
      languages: ['*'],
      live: '0.005',
    },
    {
      id: 'universal-2',
      addOns: { batch: [FILE_SPEAKERS, REDACTION] },
      name: 'Universal-2',
      description: `Files in 99 languages. Live, each utterance is a separate job, whose final arrives some seconds later.`,
      languages: ['*'],
      batch: '0.0025',
    },
  ],
);
