// The words of a run where they were heard, with who said them.
import type { Final } from './run/run.ts';

export interface PlacedWord {
  text: string;
  /** Seconds from the beginning. */
  start: number;
  end: number;
  /** Where the next word begins, at most. */
  room: number;
  speaker: number | undefined;
}

/** Those between two moments. A final without the times of its words is one word. */
export function wordsBetween(finals: readonly Final[], from: number, to: number): PlacedWord[] {
  const words = finals
    .filter(({ start, end }) => end >= from && start <= to)
    .flatMap(({ text, start, end, speaker, words: timed }) =>
      timed === undefined || timed.length === 0
        ? [{ text, start, end, speaker }]
        : timed.map((each) => ({
            text: each.word,
            start: each.start,
            end: each.end,
            speaker: each.speaker ?? speaker,
          })),
    )
    .filter(({ text, start, end }) => text !== '' && end >= from && start <= to);
  return words.map((word, at) => ({ ...word, room: words[at + 1]?.start ?? word.end + 0.5 }));
}
