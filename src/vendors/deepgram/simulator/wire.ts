// What the simulated Deepgram says in the same way on each of its endpoints.
import { type HeardText, wordsOf } from '../../kit/simulator/words.ts';

/** Audio is worked on at 1.25 times real time: what comes faster waits, and nothing is refused for its speed. */
export const SPEED_MAX = 1.25;

export interface WireWord {
  word: string;
  punctuated_word: string;
  start: number;
  end: number;
  confidence: number;
  speaker?: number;
  language?: string;
}

export const wireWords = (heard: HeardText, extras: Partial<WireWord> = {}): WireWord[] =>
  wordsOf(heard).map(({ word, start, end, confidence = 0.98 }) => ({
    ...{ word, punctuated_word: word, start, end, confidence },
    ...extras,
  }));

export const metadata = (requestId: string, seconds: number) => ({
  transaction_key: 'deprecated',
  request_id: requestId,
  sha256: '0'.repeat(64),
  created: '2026-01-01T00:00:00.000Z',
  duration: seconds,
  channels: 1,
});
