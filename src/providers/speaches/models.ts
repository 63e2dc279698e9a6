// Catalogue rows of speaches: models that it is often given; another is told by the configuration. Read in its source, and not tried
// on a server: that speech is never heard at the highest threshold, which leaves the ends of turns to the gateway, and how long a
// model takes to load on first use.
import { modelCards, processedAtUrl } from '../kit/cards.ts';
import { LANGUAGES } from '../kit/languages/whisper-languages.ts';

/** Hertz of linear16 in a session; it takes no other. */
export const LIVE_RATE = 24_000;

/** What each is called there. It has to be installed first. */
const NAMES: Readonly<Record<string, string>> = {
  'faster-whisper-large-v3': 'Systran/faster-whisper-large-v3',
  'faster-whisper-large-v3-turbo': 'deepdml/faster-whisper-large-v3-turbo-ct2',
  'faster-whisper-small': 'Systran/faster-whisper-small',
};
export const nameOf = (model: string): string => NAMES[model] ?? model;

const FREE = { live: '0', batch: '0', languages: LANGUAGES };
const WHERE = 'On a speaches server of your own: files, and live with finals only.';

export const models = modelCards(
  'speaches',
  {
    created: 1_731_000_000,
    capabilities: {
      diarization: false,
      word_timestamps: true,
      interim_results: false,
      formatting: true,
      redaction: false,
      language_detection: true,
    },
    sampleRates: [LIVE_RATE],
    price: { free: true },
    priceSource: { url: 'this project: it runs on your own machine', date: '2026-11-23' },
    processing: processedAtUrl,
  },
  [
    { id: 'faster-whisper-large-v3', name: 'Faster Whisper Large v3', description: WHERE, ...FREE },
    {
      id: 'faster-whisper-large-v3-turbo',
      name: 'Faster Whisper Large v3 Turbo',
      description: `${WHERE} Faster than its larger sibling, a little less exact.`,
      ...FREE,
    },
    {
      id: 'faster-whisper-small',
      name: 'Faster Whisper Small',
      description: `${WHERE} For machines without a graphics card.`,
      ...FREE,
    },
  ],
);
