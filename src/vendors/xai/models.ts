// Catalogue rows of xAI. Not verified with the service, and read so that it holds either way: whether the end of an utterance says
// all of it (seen by several of its clients) or what was not locked yet; whether `finalize` is answered by an end or by a locked
// chunk, which is said again; whether the last message says the rest, nothing or the whole session; whether words' times count from
// the beginning of the session or of what they stand in. Nor are the codes of its closes, and how long it keeps a silent session.
import { modelCards, processedIn } from '../kit/cards.ts';

export const MODELS: readonly string[] = ['grok-voice-transcribe-2.0'];

/** https://docs.x.ai/developers/model-capabilities/audio/speech-to-text */
export const LANGUAGES = 'ar cs da de en es fa fil fr hi id it ja ko mk ms nl pl pt ro ru sv th tr vi'.split(' ');

export const models = modelCards(
  'xai',
  {
    created: 1_789_689_600,
    capabilities: {
      diarization: true,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: false,
      language_detection: true,
    },
    sampleRates: [8_000, 16_000, 22_050, 24_000, 44_100, 48_000],
    // https://docs.x.ai/developers/rest-api-reference/inference/speech-to-text
    fileBytesMax: 500_000_000,
    // 0.20 USD an hour live, 0.10 USD for files, rounded up.
    priceSource: { url: 'https://docs.x.ai/developers/models/speech-to-text', date: '2026-09-23' },
    // In us-east-1, as the page of the prices says. Kept for 30 days, except for teams with zero data retention.
    processing: processedIn(
      { url: 'https://docs.x.ai/developers/faq/security', date: '2026-11-23' },
      [{ region: 'us' }],
      [{ retention: 'kept' }, { retention: 'none', agreement: true }],
    ),
  },
  [
    {
      id: 'grok-voice-transcribe-2.0',
      name: 'Grok Voice Transcribe 2.0',
      description: '25 languages in one model, which it detects itself. Ends turns by silence or by content.',
      languages: LANGUAGES,
      live: '0.003334',
      batch: '0.001667',
    },
  ],
);
