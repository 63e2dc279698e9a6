// What was heard of a turn, as all dialects tell it: its words, and how sure their model is.
import type { TranscriptEvent } from '../api/listen.ts';

export type HeardWord = NonNullable<TranscriptEvent['words']>[number];

/** The words of a turn. Where its model gives none, those of its text, one after another in the time of the turn. */
export function wordsOf({
  text,
  start,
  end,
  words = [],
}: Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'words'>): readonly HeardWord[] {
  if (words.length > 0) return words;
  const texts = text.split(/\s+/).filter((word) => word !== '');
  const edge = (at: number) => toMilliseconds(start + (at * (end - start)) / texts.length);
  return texts.map((word, at) => ({ word, start: edge(at), end: edge(at + 1) }));
}

/** Seconds, as exact as times are told. */
export const toMilliseconds = (seconds: number): number => Math.round(seconds * 1_000) / 1_000;

/** A word as it is looked up: lower case, without the punctuation around it. */
export function bareWord(word: string): string {
  const characters = [...word.toLowerCase()];
  let [first, last] = [0, characters.length];
  while (first < last && PUNCTUATION.test(characters[first] as string)) first++;
  while (last > first && PUNCTUATION.test(characters[last - 1] as string)) last--;
  return characters.slice(first, last).join('') || word.toLowerCase();
}

const PUNCTUATION = /[\p{P}\p{S}]/u;

/** Of a turn whose model gives none: that of its words together, or 1. */
export function confidenceOf(heard: { confidence?: number; words?: readonly { confidence?: number }[] }): number {
  if (heard.confidence !== undefined) return heard.confidence;
  const known = (heard.words ?? []).flatMap(({ confidence }) => confidence ?? []);
  return known.length === 0 ? 1 : known.reduce((sum, each) => sum + each, 0) / known.length;
}
