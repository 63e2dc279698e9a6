// Catalogue rows of the scripted provider.
import { modelCards, processedHere } from '../kit/cards.ts';

/** A request that leaves the choice of a model to the gateway wants its audio transcribed. */
const ALL = { languages: ['*'], batch: '0', live: '0', isForOnePurpose: true as const };

export const models = modelCards(
  'loopback',
  {
    created: 1_760_000_000,
    capabilities: {
      diarization: false,
      word_timestamps: true,
      interim_results: true,
      formatting: false,
      redaction: false,
      language_detection: false,
    },
    sampleRates: [8000, 16000, 24000, 48000],
    price: { free: true },
    priceSource: { url: 'this project: nothing is bought', date: '2026-11-20' },
    processing: processedHere,
  },
  [
    {
      id: 'script',
      name: 'Loopback script',
      description:
        'Says scripted turns, whatever it is sent: for demonstrations, load and failure tests. It recognises nothing.',
      ...ALL,
    },
    {
      id: 'numbered',
      name: 'Loopback numbered audio',
      description:
        'Says which samples it heard of numbered audio (sample i is the low 16 bits of i): for proving that none is lost.',
      ...ALL,
    },
  ],
);
