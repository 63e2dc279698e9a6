// Catalogue rows of Rev AI. Unverified, and read leniently: the close codes 4010, 4013 and 4029, the names of failed jobs, how long the
// silence is that ends a segment, and what an idle connection is closed for. The smaller models of files are not listed: a job is
// billed for 15 seconds at least, and live sessions through files would cost many times their audio.

import { bearer, keyCheck, providerApi } from '../kit/api.ts';
import { at, modelCards, processedIn } from '../kit/cards.ts';

/** https://docs.rev.ai/api/global-deployments */
export const ENDPOINTS = { names: ['us', 'eu'], usual: 'us', oneKey: false } as const;
export const ROOT = '/speechtotext/v1';

export const api = providerApi({
  url: ({ fields }) => `https://${fields?.region === 'eu' ? 'ec1.' : ''}api.rev.ai`,
  headers: bearer,
});

/** It shows the account to whoever has the token: https://docs.rev.ai/api/asynchronous/reference/#tag/Account */
export const credentialCheck = keyCheck(api, `${ROOT}/account`);

/** Of live sessions, https://docs.rev.ai/api/streaming: files know more. Mandarin is `cmn` there. */
const LANGUAGES = ['en', 'es', 'fr', 'de', 'it', 'ja', 'ko', 'pt', 'zh'];

export const models = modelCards(
  'revai',
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
    sampleRates: [8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000],
    // https://docs.rev.ai/api/asynchronous: 2 GB, 17 hours.
    fileBytesMax: 2_000_000_000,
    fileSecondsMax: 61_200,
    livePrice: { metered: 'connection' },
    priceSource: { url: 'https://www.rev.ai/pricing', date: '2026-05-19' },
    // A token belongs to one deployment. Jobs are kept for 30 days, or until the gateway deletes them; of live audio nothing is said.
    processing: processedIn(
      { url: 'https://docs.rev.ai/api/global-deployments', date: '2026-11-23' },
      ENDPOINTS.names.map(at),
      [
        { modes: ['batch'], retention: 'kept' },
        { modes: ['live'], retention: 'unknown' },
      ],
    ),
  },
  [
    {
      id: 'machine',
      name: 'Reverb',
      description:
        'Nine languages live. Billed by the larger of audio and connection time. A file costs at least 15 seconds. Turns end at silence; to end a turn at once, the gateway sends silence.',
      languages: LANGUAGES,
      live: '0.0050',
      // Of languages other than English; English costs 0.20 an hour, which one price for all cannot say.
      batch: '0.0050',
    },
  ],
);

/** The language as Rev AI writes it; undefined where none is named. */
export function languageOf(language: string | undefined): string | undefined {
  if (language === undefined || language === 'auto') return undefined;
  const [base] = language.toLowerCase().split('-');
  return base === 'zh' ? 'cmn' : base;
}
