// The catalogue row of Kyutai's model that tells of pauses, on a moshi-server. A server has one model, which is not requested but known
// by the address; its name is in the query anyway, for a proxy that has several servers behind it. Unverified: what comes at the
// end of the longest session. The larger model (2.6B, English) is not listed: it tells of no pauses, and is 2.5 s behind the speaker.
import { modelCards, ownServer } from '../kit/cards.ts';
import { optionTable } from '../kit/options.ts';

export const models = modelCards(
  'kyutai',
  {
    created: 1_750_000_000,
    capabilities: {
      diarization: false,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: false,
      language_detection: false,
    },
    sampleRates: [24_000],
    ...ownServer,
    priceSource: { url: 'https://github.com/kyutai-labs/delayed-streams-modeling', date: '2026-11-23' },
  },
  [
    {
      id: 'stt-1b-en_fr',
      name: 'Kyutai STT 1B',
      description:
        'On your own server: half a second behind the speaker, word by word; it distinguishes pauses from ends.',
      languages: ['en', 'fr'],
      live: '0',
      batch: '0',
    },
  ],
);

// `provider_params` of Kyutai: there is nothing that could be requested of its models.
export const options = optionTable({});
