// Catalogue rows of ElevenLabs. Not verified with the service: the codes of its closes, how long a session may last, how much
// audio it queues, and that the times of words count from the first audio of the connection (seen by a client of it).

import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import { at, modelCards, processedIn } from '../kit/cards.ts';
import { ENDPOINTS } from './api.ts';

export const LIVE_MODELS: readonly string[] = ['scribe_v2_realtime'];
export const FILE_MODELS: readonly string[] = ['scribe_v2'];

/** "90+ languages", which it detects itself. */
const ANY = ['*'];
/** The list price for an hour by 60, rounded up: https://elevenlabs.io/pricing/api. */
const KEY_TERMS = { name: 'Key terms', amount: '0.000834', asked_by: ['provider_params.keyterms'] };
const ENTITIES = {
  name: 'Entities',
  amount: '0.001167',
  asked_by: ['provider_params.entity_redaction'],
};

/**
 * Residency hosts are workspaces of their own, with their own keys. Nothing is kept where a request says so, of accounts that may.
 * https://elevenlabs.io/docs/eleven-api/resources/zero-retention-mode
 */
const PROCESSING = processedIn(
  { url: 'https://elevenlabs.io/docs/overview/administration/data-residency', date: '2026-11-23' },
  [{ region: 'global' }, ...ENDPOINTS.names.map(at)],
  [{ retention: 'kept' }, { retention: 'none', params: { enable_logging: false }, agreement: true }],
);

export const models = modelCards(
  'elevenlabs',
  {
    created: 1_762_819_200,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: true,
      language_detection: true,
    },
    sampleRates: [8_000, 16_000, 22_050, 24_000, 44_100, 48_000],
    // https://elevenlabs.io/docs/api-reference/speech-to-text/convert
    fileBytesMax: 3_000_000_000,
    // https://elevenlabs.io/docs/capabilities/speech-to-text
    fileFormats: [...COMMON_FILE_FORMATS, 'aac', 'aiff'],
    fileSecondsMax: 36_000,
    // The list price for an hour by 60, rounded up.
    priceSource: { url: 'https://elevenlabs.io/pricing/api', date: '2026-08-01' },
    processing: PROCESSING,
  },
  [
    {
      id: 'scribe_v2_realtime',
      name: 'Scribe v2 Realtime',
      description: `More than 90 languages. The gateway ends its turns, by silence.`,
      languages: ANY,
      can: { diarization: false, redaction: false },
      live: '0.0065',
      addOns: { live: [KEY_TERMS] },
    },
    {
      id: 'scribe_v2',
      name: 'Scribe v2',
      description: `Files in more than 90 languages, with up to 32 speakers.`,
      languages: ANY,
      batch: '0.0037',
      addOns: { batch: [KEY_TERMS, ENTITIES] },
    },
  ],
);
