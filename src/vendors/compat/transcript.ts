// The transcript of a turn or a file as all dialects send it: turns, sentences, words and their confidence.
import type { TranscriptEvent } from '../../api/listen-events.ts';
import type { VerboseTranscription } from '../../api/transcriptions.ts';
import { languageCode } from '../kit/languages/whisper-languages.ts';

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

/** Of a turn whose model gives none: that of its words together, or 1. */
export function confidenceOf(heard: { confidence?: number; words?: readonly { confidence?: number }[] }): number {
  if (heard.confidence !== undefined) return heard.confidence;
  const known = (heard.words ?? []).flatMap(({ confidence }) => confidence ?? []);
  return known.length === 0 ? 1 : known.reduce((sum, each) => sum + each, 0) / known.length;
}

/** A turn of a file, as the events of a live session have it. */
export interface HeardTurn {
  text: string;
  start: number;
  end: number;
  words: HeardWord[];
  speaker?: number;
  confidence?: number;
  language?: string;
}

export function turnsOf({ segments = [], words = [], language }: VerboseTranscription): HeardTurn[] {
  const code = languageOf({ language });
  let at = 0;
  return segments.map(({ text, start, end, speaker, confidence }, index) => {
    const until = Math.max(end, segments[index + 1]?.start ?? Number.POSITIVE_INFINITY);
    const first = at;
    // Those of turns at the same time come one turn after the other.
    while (at < words.length && isNext(words, at, first) && (words[at] as HeardWord).start < until) at++;
    return {
      ...{ text, start, end, words: words.slice(first, at) },
      ...(speaker === undefined ? {} : { speaker }),
      ...(confidence === undefined ? {} : { confidence }),
      ...(code === undefined ? {} : { language: code }),
    };
  });
}

/**
 * The sentences of a turn, by the punctuation of its words: the turn itself where there is none, or where its words are not its
 * text, as in languages without spaces.
 */
export function sentencesOf(turn: HeardTurn): HeardTurn[] {
  const { words, text } = turn;
  if (words.map(({ word }) => word).join(' ') !== text) return [turn];
  const sentences: HeardTurn[] = [];
  let first = 0;
  words.forEach(({ word, end }, at) => {
    if (at < words.length - 1 && !SENTENCE_END.test(word)) return;
    const own = words.slice(first, at + 1);
    const said = own.map((each) => each.word).join(' ');
    sentences.push({ ...turn, text: said, words: own, start: (own[0] as HeardWord).start, end });
    first = at + 1;
  });
  return sentences;
}

const SENTENCE_END = /[.?!]["')\]]?$/;

/** As a BCP-47 code, where it is known: a transcript has its English name. */
export const languageOf = ({ language }: Pick<VerboseTranscription, 'language'>): string | undefined =>
  language === 'und' ? undefined : (languageCode(language) ?? language);

const isNext = (words: readonly HeardWord[], at: number, first: number): boolean =>
  at === first || (words[at] as HeardWord).start >= (words[at - 1] as HeardWord).start;
