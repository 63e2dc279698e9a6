// Words as AssemblyAI writes them, live and in files: milliseconds in, seconds out.
import type { Word } from '../../../machines/events.ts';
import { fractionIn, listIn, objectIn, secondsIn, textIn } from '../kit/json.ts';
import { Speakers, wordOf } from '../kit/words.ts';

/** AssemblyAI knows at most 10 live. */
export const newSpeakers = (): Speakers => new Speakers(['UNKNOWN'], 64);

/** A word, and whether the provider will not change it any more. */
export interface HeardWord extends Word {
  settled: boolean;
}

/**
 * The words of a message; what is no word is left out, and one without times stands where the one before it ended.
 *
 * @param secondsMax nothing was heard beyond it
 */
export function wordsOf(raw: unknown, speakers: Speakers, secondsMax = Number.POSITIVE_INFINITY): HeardWord[] {
  const words: HeardWord[] = [];
  for (const each of listIn(raw)) {
    const { text, start, end, confidence, speaker, word_is_final } = objectIn(each);
    const word = textIn(text)?.trim() ?? '';
    if (word === '') continue;
    const from = Math.min(secondsMax, secondsIn(start) ?? words.at(-1)?.end ?? 0);
    const until = Math.min(secondsMax, secondsIn(end) ?? from);
    const details = { confidence: fractionIn(confidence), speaker: speakers.numberOf(speaker) };
    words.push({ ...wordOf(word, from, until, details), settled: word_is_final === true });
  }
  return words;
}

/** The words without what only this folder knows of them. */
export const plainWords = (words: readonly HeardWord[]): Word[] => words.map(({ settled: _, ...word }) => word);
