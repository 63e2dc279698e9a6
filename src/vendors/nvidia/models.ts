// Catalogue rows of Riva: models that its containers (NIM) are mostly started with. One container has one model, which is not requested but
// known by the address; its name is in the metadata anyway, for a proxy that has several behind it.
// Unverified, and read leniently: the words of errors, whether a key of NVIDIA's cloud is refused in these words, which of the models
// tells speakers apart (asked of all that are said to), and how soon silence ends a turn where the container is configured otherwise.
import { modelCards, ownServer } from '../kit/cards.ts';

/** The language that is requested where none is named; the server wants one. */
export const LANGUAGE: Readonly<Record<string, string>> = { 'parakeet-rnnt-1.1b-multilingual': 'multi' };

export const models = modelCards(
  'nvidia',
  {
    created: 1_730_000_000,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: false,
      language_detection: false,
    },
    // https://docs.nvidia.com/nim/riva/asr/latest/support-matrix.html
    sampleRates: [16_000, 8_000, 24_000, 44_100, 48_000],
    // On hardware of one's own; the licence is by the GPU.
    ...ownServer,
    priceSource: { url: 'https://docs.nvidia.com/nim/riva/asr/latest/support-matrix.html', date: '2026-11-23' },
  },
  [
    {
      id: 'parakeet-ctc-1.1b',
      name: 'Parakeet CTC 1.1B',
      description: 'English on your own server, live and for files.',
      languages: ['en'],
      ...{ live: '0', batch: '0' },
    },
    {
      id: 'parakeet-rnnt-1.1b-multilingual',
      name: 'Parakeet RNNT 1.1B multilingual',
      description: '25 languages on your own server, with switching between them.',
      languages: 'ar cs da de en es fr he hi it ja ko nb nl nn pl pt ru sv th tr'.split(' '),
      can: { language_detection: true },
      ...{ live: '0', batch: '0' },
    },
    {
      id: 'nemotron-asr-streaming',
      name: 'Nemotron ASR streaming',
      description: 'English on your own server, made for short delays.',
      languages: ['en'],
      can: { diarization: false },
      ...{ live: '0', batch: '0' },
    },
  ],
);
