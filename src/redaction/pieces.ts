// Utterances that follow each other, redacted as one text: a number may begin in one and end in the next. Pure.
import type { Word } from '../../machines/events.ts';
import type { RedactionClass } from '../api/redaction.ts';
import { type Range, rangesIn, wordsAsText } from '../api/words-in-text.ts';
import { type Caution, type Found, find } from './find.ts';
import type { Match } from './match.ts';
import { textWith, wordsWith } from './spoken-words.ts';

/** What was said before and is read for what it tells of a number: words such as "card", and the beginning of the number. */
export const CONTEXT_CHARS = 400;
/** In the place of a text that could not be read. */
export const UNREADABLE = '[REDACTED]';

/** What a service has found in a text; `withheld`: it did not answer, so the text does not leave. */
export type Known = readonly Match[] | 'withheld';

export interface Piece {
  text: string;
  words?: Word[] | undefined;
  /** What a service has found in the text. Words that are spelt in another way do not go with it: see `dropOtherWords`. */
  known?: readonly Match[] | undefined;
}

export interface Redacted {
  text: string;
  /** Absent where the piece has none, or where they do not fit its text. */
  words?: Word[];
  /** Of each match the piece has a part of. */
  found: RedactionClass[];
}

export interface Examined {
  /** Of the pieces, from the first on: so many that no continuation could change. */
  settled: number;
  /** @param isCut without what is open, for a piece that may still change */
  redacted(index: number, isCut?: boolean): Redacted;
}

interface Read {
  piece: Piece;
  text: string;
  ranges: Range[] | undefined;
}

/** Where in a text something is; another one than `find` remembers texts that grow. */
export type Finder = typeof find;

/**
 * @param context what was said before, and has left already
 * @param finder of the texts, not of words that are spelt in another way
 */
export function examine(
  context: string,
  pieces: readonly Piece[],
  classes: ReadonlySet<RedactionClass>,
  caution: Caution,
  finder: Finder = find,
): Examined {
  const texts = joinedFind(context, pieces, classes, caution, finder);
  let byWords: Joined | undefined;
  const reads = pieces.map((piece): Read => {
    const words = piece.words ?? [];
    const ranges = words.length === 0 ? [] : rangesIn(piece.text, words);
    return { piece, text: ranges === undefined ? wordsAsText(words).text : piece.text, ranges };
  });
  if (reads.some(({ ranges }) => ranges === undefined)) byWords = joinedFind(context, reads, classes, caution, find);
  return {
    settled: byWords === undefined ? texts.settled : Math.min(texts.settled, byWords.settled),
    redacted: (index, isCut = false) => {
      const read = reads[index] as Read;
      return read.ranges === undefined && byWords !== undefined
        ? ofOtherWords(read.piece, texts.at(index, isCut), byWords.at(index, isCut))
        : ofSameWords(read, texts.at(index, isCut));
    },
  };
}

/** What of one piece is redacted, counted from its own beginning. */
interface Own {
  matches: Match[];
  end: number | undefined;
}

interface Joined {
  settled: number;
  at(index: number, isCut: boolean): Own;
}

function joinedFind(
  context: string,
  texts: readonly Pick<Piece, 'text' | 'known'>[],
  classes: ReadonlySet<RedactionClass>,
  caution: Caution,
  finder: Finder,
): Joined {
  let whole = context;
  const all: Match[] = [];
  const places = texts.map(({ text, known = [] }): Range => {
    if (whole !== '') whole += ' ';
    const from = whole.length;
    whole += text;
    for (const match of known) all.push({ class: match.class, from: from + match.from, to: from + match.to });
    return { from, to: whole.length };
  });
  const { matches, openFrom }: Found = finder(whole, classes, caution, all);
  const open = places.findIndex(({ to }) => openFrom !== undefined && openFrom < to);
  return {
    settled: open < 0 ? texts.length : open,
    at: (index, isCut) => {
      const { from, to } = places[index] as Range;
      const own = matches
        .filter((match) => match.from < to && match.to > from)
        .map((match) => ({ ...match, from: Math.max(match.from, from) - from, to: Math.min(match.to, to) - from }));
      const isOpen = isCut && openFrom !== undefined && openFrom < to;
      return { matches: own, end: isOpen ? Math.max(0, openFrom - from) : undefined };
    },
  };
}

function ofSameWords({ piece, ranges }: Read, { matches, end }: Own): Redacted {
  if (matches.length === 0 && end === undefined)
    return piece.words === undefined
      ? { text: piece.text, found: [] }
      : { text: piece.text, words: piece.words, found: [] };
  const found = matches.filter(({ from }) => end === undefined || from < end).map((match) => match.class);
  const redacted: Redacted = { text: textWith(piece.text, matches, end), found };
  if (piece.words !== undefined) redacted.words = wordsWith(piece.words, ranges ?? [], matches, end);
  return redacted;
}

/** The words are spelt in another way than the text. What is found in one of the two has to be hidden in both. */
function ofOtherWords(piece: Piece, inText: Own, inWords: Own): Redacted {
  const words = piece.words ?? [];
  const { text: wordsText, ranges } = wordsAsText(words);
  const text = textWith(piece.text, inText.matches, inText.end);
  const [ofText, ofWords] = [kindsOf(inText), kindsOf(inWords)];
  const found = ofText.length > ofWords.length ? ofText : ofWords;
  const isSame = ofText.join() === ofWords.join();
  if (isSame) return { text, words: wordsWith(words, ranges, inWords.matches, inWords.end), found };
  // The text that is made of words has lost its punctuation, and nothing else.
  if (ofWords.length > ofText.length) {
    const spoken = wordsWith(words, ranges, inWords.matches, inWords.end);
    return { text: textWith(wordsText, inWords.matches, inWords.end), words: spoken, found };
  }
  return { text, found };
}

const kindsOf = ({ matches, end }: Own): RedactionClass[] =>
  matches.filter(({ from }) => end === undefined || from < end).map((match) => match.class);

/**
 * Takes away words that are spelt in another way than the text: what a service has found in the text is not found in them. The text
 * alone is redacted then.
 */
export function dropOtherWords(piece: { text: string; words?: Word[] | undefined }): void {
  const { text, words = [] } = piece;
  if (words.length > 0 && rangesIn(text, words) === undefined) delete piece.words;
}

/** What is kept of what was said, for what comes next: whole words. */
export function contextAfter(context: string, text: string): string {
  const whole = context === '' ? text : `${context} ${text}`;
  if (whole.length <= CONTEXT_CHARS) return whole;
  const cut = whole.slice(-CONTEXT_CHARS);
  return cut.slice(cut.search(/\s|$/));
}
