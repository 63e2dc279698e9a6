// What AssemblyAI says in the same shape of files and of live speech: words in milliseconds, and speakers by letters.
import type { TranscriptEvent } from '../../api/listen.ts';
import { confidenceOf } from '../texts.ts';

type HeardWord = NonNullable<TranscriptEvent['words']>[number];

interface Heard {
  text: string;
  start: number;
  end: number;
  confidence?: number;
  speaker?: number;
  words?: readonly HeardWord[];
}

const ALPHABET = 26;

/** `A`, …, `Z`, `AA`, … */
export function letterOf(speaker: number | undefined): string | undefined {
  if (speaker === undefined) return undefined;
  const before = speaker < ALPHABET ? '' : letterOf(Math.floor(speaker / ALPHABET) - 1);
  return `${before}${String.fromCharCode(65 + (speaker % ALPHABET))}`;
}

/** Clients read text out of words: where a model gives none, each is where its turn is. */
export const wordsOf = (heard: Heard) =>
  (heard.words ?? wordsIn(heard)).map(({ word, start, end, confidence, speaker }) => ({
    text: word,
    start: millisecondsOf(start),
    end: millisecondsOf(end),
    confidence: confidence ?? confidenceOf(heard),
    speaker: letterOf(speaker ?? heard.speaker) ?? null,
  }));

export const millisecondsOf = (seconds: number): number => Math.round(seconds * 1_000);

const wordsIn = ({ text, start, end }: Heard): HeardWord[] =>
  text.split(/\s+/).flatMap((word) => (word === '' ? [] : [{ word, start, end }]));
