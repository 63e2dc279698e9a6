// Catalogue rows of Speechmatics. Unverified: which model the public price is of. The vendor's page names plans ("Pro, from 0.24 USD
// an hour"), so the smaller model has that price, and the larger the highest one that a public list names for it. `melia-1` is not
// listed: it is a preview live, and nobody names its price. Other parts of the sheet that no recording confirms are read leniently:
// the close code behind an `Error` decides only where its type is not known, and a final without results is silence.

import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import { at, modelCards, processedIn } from '../kit/cards.ts';
import { ENDPOINTS } from './api.ts';
import { LANGUAGES } from './languages.ts';

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
