// Catalogue row of Fireworks. It calls its audio models deprecated, with no day of their end
// (https://docs.fireworks.ai/updates/changelog, 2026-06-10). Others found that this one answered on 2026-09-18, and that
// `whisper-v3` refused the same key with 401: that and the streaming models, which nobody was seen to use since, are left out.
// Not verified with the service: all of it. Its documents of audio are withdrawn, and its price list names audio no more.

import { bearer, keyCheck, providerApi } from '../kit/api.ts';
import { modelCards, processedIn } from '../kit/cards.ts';
import { LANGUAGES } from '../kit/languages/whisper-languages.ts';

export const api = providerApi({ url: 'https://audio-turbo.api.fireworks.ai/v1', headers: bearer });

const inference = providerApi({ url: 'https://api.fireworks.ai/inference/v1', headers: bearer });

/** It lists the models to whoever has the key, and says nothing of audio: https://docs.fireworks.ai/api-reference/list-models */
export const credentialCheck = keyCheck(inference, '/models');

export const models = modelCards(
  'fireworks',
  {
    created: 1_728_000_000,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: false,
      formatting: true,
      redaction: false,
      language_detection: true,
    },
    sampleRates: [16_000],
    // https://docs.fireworks.ai/api-reference/audio-transcriptions
    fileBytesMax: 1_000_000_000,
    // The day of the last copy of it that is known. Speakers: https://fireworks.ai/pricing, as of 2025-07-19.
    priceSource: { url: 'https://fireworks.ai/models/fireworks/whisper-v3-turbo', date: '2025-10-05' },
    // It promises to keep no prompts and generations of open models; of audio, and where it goes, it says nothing.
    processing: processedIn(
      { url: 'https://docs.fireworks.ai/guides/security_compliance/data_handling', date: '2026-11-23' },
      [{ region: 'unknown' }],
      [{ retention: 'unknown' }],
    ),
  },
  [
    {
      id: 'whisper-v3-turbo',
      name: 'Whisper v3 Turbo (Fireworks)',
      description:
        'Files in 99 languages, with speakers. Deprecated by Fireworks since June 2026, without an end date: name a fallback.',
      languages: LANGUAGES,
      batch: '0.0009',
      // 40 % more.
      addOns: { batch: [{ name: 'Speakers', amount: '0.00036', asked_by: ['diarization'] }] },
    },
  ],
);
