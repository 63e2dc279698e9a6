// The pieces of an utterance that a subtitle may be cut between, each with its time: out of the times of words, or shared out
// over the utterance by characters where the model gave none.
import type { Utterance, Word } from '../../../machines/events.ts';

/** A word as it is written, or a part of a text that is written without spaces. */
export interface Piece {
  text: string;
  /** No space stands before it. */
  isGlued: boolean;
  startMs: number;
  /** Not before `startMs`. */
  endMs: number;
  speaker: number | undefined;
}

/** A text without a space is taken apart from so many characters on, where its writing knows no spaces. */
const UNBROKEN_MAX = 20;
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
/** How fast people speak, for a text that has no time at all. */
const CHARACTERS_PER_SECOND = 15;

/**
 * The pieces of an utterance, in order, with every character of it but its spaces.
 *
 * @param until where the next utterance begins, or the audio ends: a text without any times may last until then
 */
export function piecesOf(utterance: Utterance, until: number): { pieces: Piece[]; hasTimes: boolean } {
  const texts = textsOf(utterance.text);
  const words = (utterance.words ?? []).filter(({ word }) => countOf(word) > 0);
  const hasTimes = words.length > 0;
  const timeline = hasTimes ? timelineOfWords(words) : evenTimeline(utterance, until);
  const weightOf = (text: string) => Math.max(hasTimes ? 0 : 1, countOf(text));
  const total = texts.reduce((sum, { text }) => sum + weightOf(text), 0);
  const scale = timeline.count / Math.max(1, total);
  let at = 0;
  let latestMs = 0;
  const pieces = texts.map(({ text, isGlued }) => {
    const count = weightOf(text);
    const span = timeline.spanOf(at * scale, (at + count) * scale);
    at += count;
    const startMs = Math.max(latestMs, msOf(span.start));
    latestMs = startMs;
    return {
      text,
      isGlued,
      startMs,
      endMs: Math.max(startMs, msOf(span.end)),
      speaker: span.speaker ?? utterance.speaker,
    };
  });
  return { pieces, hasTimes };
}

const msOf = (seconds: number): number => (Number.isFinite(seconds) ? Math.max(0, Math.round(seconds * 1000)) : 0);

function textsOf(text: string): { text: string; isGlued: boolean }[] {
  return text
    .split(/\s+/u)
    .filter((token) => token !== '')
    .flatMap((token) => {
      const parts = token.length > UNBROKEN_MAX && WITHOUT_SPACES.test(token) ? unbroken(token) : [token];
      return parts.map((part, index) => ({ text: part, isGlued: index > 0 }));
    });
}

/** The words of a text without spaces, each with the punctuation behind it. */
function unbroken(token: string): string[] {
  const parts: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(token)) {
    if (isWordLike || parts.length === 0) parts.push(segment);
    else parts[parts.length - 1] += segment;
  }
  return parts;
}

/** What time characters were said at, counted from the first of an utterance. */
interface Timeline {
  readonly count: number;
  spanOf(from: number, to: number): { start: number; end: number; speaker: number | undefined };
}

/** Letters and digits: words come without the punctuation of their text, as often as not. */
const countOf = (text: string): number => text.match(/[\p{L}\p{N}\p{M}]/gu)?.length ?? 0;

/** Words may be spelt in another way than their text; what is so far in the text is so far in the words. */
function timelineOfWords(words: readonly Word[]): Timeline {
  const ends: number[] = [];
  let count = 0;
  for (const { word } of words) {
    count += countOf(word);
    ends.push(count);
  }
  /** The word that a character belongs to. */
  const wordAt = (character: number): Word => {
    let low = 0;
    let high = ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] as number) > character) high = middle;
      else low = middle + 1;
    }
    return words[low] as Word;
  };
  return {
    count,
    spanOf: (from, to) => {
      // Of a text as long as its words both fall on the same borders, but for what adding up fractions costs.
      const first = wordAt(from + 1e-6);
      return { start: first.start, end: wordAt(to - 1e-6).end, speaker: first.speaker };
    },
  };
}

function evenTimeline({ text, start, end }: Utterance, until: number): Timeline {
  const spoken = Math.max(1, text.length / CHARACTERS_PER_SECOND);
  const last = end > start ? end : until > start ? Math.min(until, start + spoken) : start + spoken;
  const at = (share: number) => start + (last - start) * share;
  return { count: 1, spanOf: (from, to) => ({ start: at(from), end: at(to), speaker: undefined }) };
}
