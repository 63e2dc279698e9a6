// Words as AssemblyAI writes them, live and in files: milliseconds in, seconds out.
import type { Word } from '../../../machines/events.ts';
import { fractionIn, listIn, objectIn, secondsIn, textIn } from '../kit/json.ts';
import { Speakers, wordOf } from '../kit/words.ts';

/** AssemblyAI knows at most 10 live. `PENDING` is said of words whose speaker a `SpeakerRevision` is to tell. */
export const newSpeakers = (): Speakers => new Speakers(['UNKNOWN', 'PENDING'], 64);

/**
 * The words of a message; what is no word is left out, and one without times stands where the one before it ended.
 *
 * @param secondsMax nothing was heard beyond it
 */
export function wordsOf(raw: unknown, speakers: Speakers, secondsMax = Number.POSITIVE_INFINITY): Word[] {
  const words: Word[] = [];
  for (const each of listIn(raw)) {
    const { text, start, end, confidence, speaker } = objectIn(each);
    const word = textIn(text)?.trim() ?? '';
    if (word === '') continue;
    const from = Math.min(secondsMax, secondsIn(start) ?? words.at(-1)?.end ?? 0);
    const until = Math.min(secondsMax, secondsIn(end) ?? from);
    // Zero stands for what is not known: a word of which nothing is believed would not be said.
    words.push(wordOf(word, from, until, fractionIn(confidence) || undefined, speakers.numberOf(speaker)));
  }
  return words;
}

/** The number of words at the beginning that the provider will not change any more. */
export function settledCount(raw: unknown): number {
  const words = spokenIn(raw);
  const open = words.findIndex(({ word_is_final }) => word_is_final !== true);
  return open < 0 ? words.length : open;
}

/** Whether the provider will change none of the words any more. */
export const areSettled = (raw: unknown): boolean => settledCount(raw) === spokenIn(raw).length;

const spokenIn = (raw: unknown) =>
  listIn(raw)
    .map(objectIn)
    .filter(({ text }) => (textIn(text)?.trim() ?? '') !== '');
