// What an ear heard, as the words and times that services tell it in.
import type { Word } from '../../../../machines/events.ts';
import type { HeardTurn } from '../simulation.ts';

/** A turn, or what there is of it. Times are seconds. */
export interface HeardText {
  text: string;
  start: number;
  end: number;
  words?: Word[];
}

/** Sums of seconds are rounded. */
const ROUNDING_MS = 1e-6;

/** One for each word of the text: with the ear's times, or with equal shares of the time where it gave none. */
export function wordsOf({ text, start, end, words }: HeardText): Word[] {
  const tokens = text.split(' ').filter((token) => token !== '');
  if (words?.length === tokens.length) return words.map((word, index) => ({ ...word, word: tokens[index] as string }));
  const share = (end - start) / tokens.length;
  return tokens.map((word, index) => ({ word, start: start + index * share, end: start + (index + 1) * share }));
}

/** The words without the mark behind each, which stands beside it. */
export const markedWordsOf = (heard: HeardText): (Word & { mark?: string })[] =>
  wordsOf(heard).map((each) => {
    const [, word, mark] = /^(.*\w)([.,?!])$/.exec(each.word) ?? [];
    return word === undefined || mark === undefined ? each : { ...each, word, mark };
  });

/** Rounded down: a word never ends behind the audio it was heard in. */
export const millisecondsOf = (seconds: number): number => Math.floor(seconds * 1_000 + ROUNDING_MS);

/** Of a file. */
export const textOf = (turns: readonly HeardTurn[]): string => turns.map(({ text }) => text).join(' ');

/** The mean of a file's turns; 0 where there are none. */
export const confidenceOf = (turns: readonly HeardTurn[]): number =>
  turns.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, turns.length);
