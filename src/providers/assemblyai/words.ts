// Words and speakers as AssemblyAI writes them, live and in files: milliseconds and letters in, seconds and numbers out.
import type { Word } from '../../../machines/events.ts';

/** AssemblyAI knows at most 10 speakers live; labels beyond so many are taken for none. */
const SPEAKERS_MAX = 64;

/** Numbers speakers from 0 in the order of their first appearance. */
export class Speakers {
  private readonly numbers = new Map<string, number>();

  /** `UNKNOWN`, and what is no label at all, is nobody. */
  numberOf(label: unknown): number | undefined {
    if (typeof label !== 'string' || label === '' || label === 'UNKNOWN') return undefined;
    const known = this.numbers.get(label);
    if (known !== undefined || this.numbers.size >= SPEAKERS_MAX) return known;
    this.numbers.set(label, this.numbers.size);
    return this.numbers.size - 1;
  }
}

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
  if (!Array.isArray(raw)) return [];
  const words: HeardWord[] = [];
  for (const each of raw as unknown[]) {
    if (typeof each !== 'object' || each === null) continue;
    const { text, start, end, confidence, speaker, word_is_final } = each as Record<string, unknown>;
    if (typeof text !== 'string' || text.trim() === '') continue;
    const from = Math.min(secondsMax, secondsOf(start) ?? words.at(-1)?.end ?? 0);
    const number = speakers.numberOf(speaker);
    words.push({
      word: text.trim(),
      start: from,
      end: Math.max(from, Math.min(secondsMax, secondsOf(end) ?? from)),
      ...(isFraction(confidence) ? { confidence } : {}),
      ...(number === undefined ? {} : { speaker: number }),
      settled: word_is_final === true,
    });
  }
  return words;
}

export const textOf = (words: readonly Word[]): string => words.map(({ word }) => word).join(' ');

/** The words without what only this folder knows of them. */
export const plainWords = (words: readonly HeardWord[]): Word[] => words.map(({ settled: _, ...word }) => word);

/** The mean confidence of words, where any has one. */
export function confidenceOf(words: readonly Word[]): number | undefined {
  const known = words.flatMap(({ confidence }) => (confidence === undefined ? [] : [confidence]));
  return known.length === 0 ? undefined : known.reduce((sum, each) => sum + each, 0) / known.length;
}

/** Seconds of a time in milliseconds; undefined for what is no time. */
export function secondsOf(milliseconds: unknown): number | undefined {
  return typeof milliseconds === 'number' && Number.isFinite(milliseconds) && milliseconds >= 0
    ? milliseconds / 1000
    : undefined;
}

export const isFraction = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;
