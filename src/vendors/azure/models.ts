// Catalogue rows of Azure. Unverified, and read leniently: the protocol of live sessions has no public reference, and is known from the
// official client; how long the pause is that ends a turn, when an idle connection is closed, what silence a request is ended for
// and what its last phrase says of its place. Of the session's length only an older document speaks. Not offered: speakers and
// languages found live, which are on another path and billed on top (0.30 an hour each).

import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import type { NamedRegion } from '../../api/residency-rule.ts';
import { modelCards, processedIn } from '../kit/cards.ts';
import { REGIONS } from './api.ts';
import { LANGUAGES } from './languages.ts';

const PLACES = Object.entries(REGIONS).map(([region, endpoints]) => ({ region: region as NamedRegion, endpoints }));

/** 1.20 an hour in place of 1.00. Phrases cost nothing more; speakers and languages of files neither, which are dear live alone. */
const OWN_MODEL = { name: 'Custom speech', amount: '0.0034', asked_by: ['provider_params.custom_endpoint_id'] };

export const models = modelCards(
  'azure',
  {
    created: 1_700_000_000,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: false,
      language_detection: false,
    },
    sampleRates: [8_000, 16_000],
    // https://learn.microsoft.com/azure/ai-services/speech-service/speech-services-quotas-and-limits
    fileBytesMax: 300_000_000,
    // https://learn.microsoft.com/azure/ai-services/speech-service/batch-transcription-audio-data
    fileFormats: [...COMMON_FILE_FORMATS, 'aac', 'amr', 'wma'],
    fileSecondsMax: 7_200,
    // By the hour, of `eastus`: "S1 Speech To Text" 1.00, "S1 Custom Speech To Text" 1.20, "Fast Transcription Speech To Text" 0.36, as
    // Azure's price interface told others on that day (https://prices.azure.com/api/retail/prices). The page shows the same meters.
    priceSource: {
      url: 'https://azure.microsoft.com/pricing/details/cognitive-services/speech-services/',
      date: '2026-09-29',
    },
    // Nothing is stored of live sessions and fast transcription unless the resource logs, which the gateway never asks for.
    processing: processedIn(
      {
        url: 'https://learn.microsoft.com/azure/ai-foundry/responsible-ai/speech-service/speech-to-text/data-privacy-security',
        date: '2026-11-23',
      },
      PLACES,
      [{ retention: 'none' }],
    ),
  },
  [
    {
      id: 'speech',
      name: 'Azure Speech',
      description:
        'Live, and fast transcription of files, in more than 100 languages and regions. Silence is billed too. Turns end at silence; to end a turn at once, the gateway sends silence.',
      languages: LANGUAGES,
      canLive: { diarization: false },
      live: '0.0167',
      batch: '0.0060',
      addOns: { live: [OWN_MODEL] },
    },
  ],
);
