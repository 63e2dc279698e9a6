// Catalogue rows of Cartesia. Not verified with the service: the codes of its closes, how long it keeps an idle connection (20 s
// or three minutes), how much faster than real time audio may come, and that words' times count from the first audio.

import type { Word } from '../../../machines/events.ts';
import { COMMON_FILE_FORMATS } from '../../api/audio-formats.ts';
import { keyCheck, providerApi } from '../kit/api.ts';
import { modelCards, processedIn } from '../kit/cards.ts';
import { listIn, objectIn, textIn, timeIn } from '../kit/json.ts';
import { LANGUAGES } from '../kit/languages/whisper-languages.ts';
import { wordOf } from '../kit/words.ts';

/** Its errors are JSON from this version on: https://docs.cartesia.ai/use-the-api/api-errors */
const VERSION = '2026-03-01';

export const api = providerApi({
  url: 'https://api.cartesia.ai',
  headers: (credential) => ({ authorization: `Bearer ${credential}`, 'cartesia-version': VERSION }),
});

/** It lists the voices to whoever has the key: https://docs.cartesia.ai/api-reference/voices/list */
export const credentialCheck = keyCheck(api, '/voices', { limit: 1 });

/** Words without spaces; undefined where there are none, or one has no times. */
export function wordsIn(value: unknown, place: (seconds: number) => number): Word[] | undefined {
  const words: Word[] = [];
  for (const item of listIn(value)) {
    const { word, start: from, end: until } = objectIn(item);
    const [text, start, end] = [textIn(word)?.trim(), timeIn(from), timeIn(until)];
    if (text === undefined || start === undefined || end === undefined) return undefined;
    words.push(wordOf(text, place(start), place(Math.max(start, end))));
  }
  return words.length === 0 ? undefined : words;
}

export const LIVE_MODELS: readonly string[] = ['ink-2'];

export const models = modelCards(
  'cartesia',
  {
    created: 1_775_001_600,
    capabilities: {
      diarization: false,
      word_timestamps: true,
      interim_results: true,
      formatting: true,
      redaction: false,
      language_detection: false,
    },
    sampleRates: [8_000, 16_000, 24_000, 44_100, 48_000],
    // https://docs.cartesia.ai/api-reference/stt/transcribe
    fileBytesMax: 2_000_000_000,
    // https://docs.cartesia.ai/api-reference/stt/transcribe
    fileFormats: COMMON_FILE_FORMATS,
    // 3 credits a second live, 1 for two seconds of a file; a credit costs 5 USD for 100,000 in the smallest plan.
    priceSource: { url: 'https://docs.cartesia.ai/pricing', date: '2026-07-02' },
    // Routed to the nearest region; its regional hosts are told to their customers only. Not kept by agreement:
    // https://docs.cartesia.ai/enterprise/zero-data-retention
    processing: processedIn(
      { url: 'https://docs.cartesia.ai/enterprise/regional-endpoints', date: '2026-11-23' },
      [{ region: 'global' }],
      [{ retention: 'kept' }, { retention: 'none', agreement: true }],
    ),
  },
  [
    {
      id: 'ink-2',
      name: 'Ink 2',
      description: 'English, live. The gateway ends its turns, by silence. Its credits cost less in larger plans.',
      languages: ['en'],
      live: '0.009',
    },
    {
      id: 'ink-whisper',
      name: 'Ink Whisper',
      description: 'Files in about 100 languages. Live, each utterance is a file, whose final arrives after it.',
      languages: LANGUAGES,
      batch: '0.0015',
    },
  ],
);
