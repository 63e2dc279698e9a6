// Catalogue rows of Soniox. Not verified with the service: the codes of its closes, and its exact deadlines.

import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import { at, modelCards, processedIn } from '../kit/cards.ts';
import { ENDPOINTS } from './api.ts';

export const LIVE_MODELS: readonly string[] = ['stt-rt-v5'];
export const FILE_MODELS: readonly string[] = ['stt-async-v5'];

/** https://soniox.com/docs/stt/concepts/supported-languages */
const LANGUAGES = (
  'af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr gl gu he hi hr hu id it ja kk kn ko lt lv mk ml mr ms nl no ' +
  'pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur vi zh'
).split(' ');

export const models = modelCards(
  'soniox',
  {
    created: 1_775_001_600,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: false,
      language_detection: true,
    },
    sampleRates: [8_000, 16_000, 24_000, 44_100, 48_000],
    // https://soniox.com/docs/stt/async-API/async-transcription
    fileFormats: [...COMMON_FILE_FORMATS, 'aac', 'aiff', 'amr', 'wma'],
    // https://soniox.com/docs/stt/async/limits-and-quotas
    fileSecondsMax: 18_000,
    // A stream is charged for as long as it is open, paused or not.
    livePrice: { metered: 'connection' },
    // Billed by tokens; the figures are what Soniox says an hour comes to (0.12 USD live, 0.10 USD for files), rounded up.
    priceSource: { url: 'https://soniox.com/pricing', date: '2026-07-20' },
    // A key belongs to a project, and that to a region. What is kept of live audio no document says that was read; jobs are deleted
    // when they are done.
    processing: processedIn(
      { url: 'https://soniox.com/docs/stt/data-residency', date: '2026-11-23' },
      ENDPOINTS.names.map(at),
      [
        { modes: ['live'], retention: 'unknown' },
        { modes: ['batch'], retention: 'kept' },
      ],
    ),
  },
  [
    {
      id: 'stt-rt-v5',
      name: 'Soniox Real-time v5',
      description:
        '60 languages in one model, between which speakers may switch. Ends turns by content, not only by silence.',
      languages: LANGUAGES,
      live: '0.002',
    },
    {
      id: 'stt-async-v5',
      name: 'Soniox Async v5',
      description:
        'Files in 60 languages, as jobs that are deleted when they are done. Live, each utterance is such a job, whose final arrives some seconds later.',
      languages: LANGUAGES,
      batch: '0.0017',
    },
  ],
);
