// Reads what Deepgram says about words, in live messages and in answers alike. Nothing is taken for what it claims to be
// before it was looked at.
import type { Utterance, Word } from '../../../machines/events.ts';

/** Speakers that get a number in one leg or file; further ones get none. */
const SPEAKERS_MAX = 256;

export type Members = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one when it is none. */
export const objectIn = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A number that is one: finite, and not below zero. */
export const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** A time in seconds. One below zero is the beginning: words count for more than where they are said to have been. */
export const timeIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : undefined;

/** A confidence: a number from 0 to 1. */
export function confidenceIn(value: unknown): number | undefined {
  const confidence = numberIn(value);
  return confidence !== undefined && confidence <= 1 ? confidence : undefined;
}

/** Numbers speakers from 0 in the order they are first heard, whatever the provider calls them. */
export class Speakers {
  readonly #labels: string[] = [];

  /** The number of a speaker; undefined once there are too many. */
  numberOf(label: string): number | undefined {
    const known = this.#labels.indexOf(label);
    if (known >= 0) return known;
    if (this.#labels.length >= SPEAKERS_MAX) return undefined;
    return this.#labels.push(label) - 1;
  }
}

/** How the words of a list are to be read. */
interface WordReading {
  /** A time of the provider as the reader wants it. */
  place(seconds: number): number;
  /** The number of a word's speaker, where the word names one. */
  speakerOf(label: unknown): number | undefined;
}

/** The words of a list, formatted where there is a formatted version; undefined when there are none or one has no times. */
export function wordsIn(value: unknown, { place, speakerOf }: WordReading): Word[] | undefined {
  const words: Word[] = [];
  for (const item of listIn(value)) {
    const members = objectIn(item);
    const word = textIn(members.punctuated_word) ?? textIn(members.word);
    const start = timeIn(members.start);
    const end = timeIn(members.end);
    if (word === undefined || start === undefined || end === undefined) return undefined;
    const confidence = confidenceIn(members.confidence);
    const speaker = speakerOf(members.speaker);
    words.push({
      word,
      start: place(start),
      end: place(Math.max(start, end)),
      ...(confidence === undefined ? {} : { confidence }),
      ...(speaker === undefined ? {} : { speaker }),
    });
  }
  return words.length === 0 ? undefined : words;
}

/** What is known of an utterance beside its text and its place. */
interface Details {
  words: Word[] | undefined;
  confidence: number | undefined;
  language: string | undefined;
}

/**
 * An utterance from `start` to `end`. It begins with its first word, where words have times; it has a speaker where all
 * its words have the same.
 */
export function utteranceOf(
  text: string,
  { start, end }: { start: number; end: number },
  { words, confidence, language }: Details,
): Utterance {
  const speaker = words?.[0]?.speaker;
  const isOneSpeaker = speaker !== undefined && words?.every((word) => word.speaker === speaker);
  return {
    text,
    start: Math.min(end, Math.max(start, words?.[0]?.start ?? start)),
    end,
    ...(confidence === undefined ? {} : { confidence }),
    ...(isOneSpeaker ? { speaker } : {}),
    ...(language === undefined ? {} : { language }),
    ...(words === undefined ? {} : { words }),
  };
}
