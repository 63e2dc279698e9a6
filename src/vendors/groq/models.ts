// Catalogue rows of Groq. Not verified with the service: what it answers beside the text, which its own types leave out.
import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import { bearer, keyCheck, providerApi } from '../kit/api.ts';
import { modelCards, processedIn } from '../kit/cards.ts';
import { LANGUAGES } from '../kit/languages/whisper-languages.ts';

export const api = providerApi({ url: 'https://api.groq.com/openai/v1', headers: bearer });

/** It lists the models to whoever has the key: https://console.groq.com/docs/api-reference#models-list */
export const credentialCheck = keyCheck(api, '/models');

/** Of a file that is sent, whatever the plan: https://console.groq.com/docs/speech-to-text */
export const FILE_BYTES_MAX = 25_000_000;
export const FILE_EXTENSIONS: readonly string[] = ['flac', 'mp3', 'mp4', 'mpeg', 'mpga', 'm4a', 'ogg', 'wav', 'webm'];

const MINIMUM = 'Each file costs at least ten seconds.';

export const models = modelCards(
  'groq',
  {
    created: 1_728_000_000,
    capabilities: {
      diarization: false,
      word_timestamps: true,
      interim_results: false,
      formatting: true,
      redaction: false,
      language_detection: true,
    },
    sampleRates: [16_000],
    fileBytesMax: FILE_BYTES_MAX,
    // https://console.groq.com/docs/speech-to-text
    fileFormats: COMMON_FILE_FORMATS,
    // The list price for an hour (0.111 and 0.04 USD) by 60, rounded up; the minimum is that of ten seconds.
    priceSource: { url: 'https://console.groq.com/docs/speech-to-text', date: '2026-08-01' },
    // Not kept by default but to look into faults and abuse, up to 30 days; for accounts that have switched that off not at all.
    processing: processedIn(
      { url: 'https://console.groq.com/docs/your-data', date: '2026-11-23' },
      [{ region: 'unknown' }],
      [{ retention: 'kept' }, { retention: 'none', agreement: true }],
    ),
  },
  [
    {
      id: 'whisper-large-v3',
      name: 'Whisper Large v3 (Groq)',
      description: `Files in 99 languages, within seconds. ${MINIMUM}`,
      languages: LANGUAGES,
      batch: '0.00185',
      batchMinimum: '0.000309',
    },
    {
      id: 'whisper-large-v3-turbo',
      name: 'Whisper Large v3 Turbo (Groq)',
      description: `Files in 99 languages, faster and cheaper, slightly less accurate. ${MINIMUM}`,
      languages: LANGUAGES,
      batch: '0.00067',
      batchMinimum: '0.000112',
    },
  ],
);
