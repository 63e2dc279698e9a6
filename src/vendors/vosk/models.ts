// Catalogue rows of Vosk: the models that its servers are mostly started with. One server has one model, which is not requested but
// known by the address; its name is in the query anyway, for a proxy that has several servers behind it.
// Read leniently, as the four servers differ: the one in C++ answers the configuration as if it were audio, and tells words only where
// its environment says so; the one for GPUs may end without an answer. Unverified: the server of two languages.
import { modelCards, ownServer } from '../kit/cards.ts';

export const models = modelCards(
  'vosk',
  {
    created: 1_640_000_000,
    capabilities: {
      diarization: false,
      word_timestamps: true,
      interim_results: true,
      formatting: false,
      redaction: false,
      language_detection: false,
    },
    sampleRates: [8_000, 16_000],
    ...ownServer,
    priceSource: { url: 'https://alphacephei.com/vosk/models', date: '2026-11-23' },
  },
  (
    [
      ['small-en-us-0.15', 'English', 'en'],
      ['en-us-0.22', 'English', 'en'],
      ['small-de-0.15', 'German', 'de'],
      ['de-0.21', 'German', 'de'],
      ['small-fr-0.22', 'French', 'fr'],
      ['fr-0.22', 'French', 'fr'],
      ['small-es-0.42', 'Spanish', 'es'],
      ['es-0.42', 'Spanish', 'es'],
      ['small-it-0.22', 'Italian', 'it'],
      ['small-pt-0.3', 'Portuguese', 'pt'],
    ] as const
  ).map(([id, language, tag]) => ({
    id,
    name: `Vosk ${id}`,
    description: `${language} on your own server${isSmall(id) ? ', even on a small machine' : ''}. Lower case, no punctuation.`,
    languages: [tag],
    live: '0',
    batch: '0',
  })),
);

/** Small models can be held to a list of phrases. */
function isSmall(id: string): boolean {
  return id.startsWith('small-');
}

export const SMALL = models.map(({ id }) => id.slice('vosk/'.length)).filter(isSmall);
