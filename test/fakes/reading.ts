// The sample of a person's voice, and whether a transcript has its words.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { editDistance } from '../../src/api/slug.ts';

const TURNS = readFileSync(new URL('../fixtures/audio/reading.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');

export const READING = { file: 'reading.wav', turns: TURNS, text: TURNS.join(' '), seconds: 10.74 };

/** `local/dictation-en` made no error when this was measured; other processors round differently. */
const ERROR_RATE_MAX = 0.1;

/** The part of the words that is wrong, missing or too many; capitals and punctuation do not count. */
function wordErrorRate(said: string, text: string): number {
  const [wanted, got] = [wordsOf(said), wordsOf(text)];
  return editDistance(got, wanted) / wanted.length;
}

export function expectReading(text: string): void {
  expect(wordErrorRate(READING.text, text), text).toBeLessThanOrEqual(ERROR_RATE_MAX);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
