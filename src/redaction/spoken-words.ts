// What was found in a text, in its words: all words of a match become one, with the label as its text and the times of them together.
import type { Word } from '../../machines/events.ts';
import { labelOf } from '../api/redaction.ts';
import type { Range } from '../api/words-in-text.ts';
import type { Match } from './match.ts';

/** The text with a label in the place of each match, up to `end`. */
export function textWith(text: string, matches: readonly Match[], end = text.length): string {
  let redacted = '';
  let at = 0;
  for (const match of matches) {
    if (match.from >= end) break;
    redacted += text.slice(at, match.from) + labelOf(match.class);
    at = match.to;
  }
  redacted += text.slice(at, Math.max(at, end));
  return end < text.length ? redacted.trimEnd() : redacted;
}

/** @param end what begins behind it, or reaches beyond it, is left out */
export function wordsWith(
  words: readonly Word[],
  ranges: readonly Range[],
  matches: readonly Match[],
  end = Number.POSITIVE_INFINITY,
): Word[] {
  const redacted: Word[] = [];
  let next = 0;
  let joined: Word | undefined;
  let joinedTo: Match | undefined;
  for (const [index, word] of words.entries()) {
    const { from, to } = ranges[index] as Range;
    while (next < matches.length && (matches[next] as Match).to <= from) next++;
    const match = matches[next];
    const isWithin = match !== undefined && match.from < to && match.to > from;
    if (!isWithin) {
      joined = undefined;
      if (to <= end) redacted.push(word);
    } else if (joined !== undefined && joinedTo === match) joinTo(joined, word);
    else {
      joined = { ...word, word: labelOf(match.class) };
      joinedTo = match;
      redacted.push(joined);
      // A word may hold the end of one match and the beginning of the next.
      while (next + 1 < matches.length && (matches[next + 1] as Match).from < to) {
        next++;
        joined.word += labelOf((matches[next] as Match).class);
        joinedTo = matches[next];
      }
    }
  }
  return redacted;
}

function joinTo(joined: Word, { start, end, confidence }: Word): void {
  joined.start = Math.min(joined.start, start);
  joined.end = Math.max(joined.end, end);
  if (confidence === undefined) return;
  joined.confidence = joined.confidence === undefined ? confidence : Math.min(joined.confidence, confidence);
}
