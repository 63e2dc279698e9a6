// Words with times, in which stretches of their text are written in another way. A phrase that becomes one word lasts from the start of its
// first word to the end of its last; a word that becomes several shares its time among them by their length.
import type { Word } from '../../machines/events.ts';
import { type Range, SAID } from '../api/words-in-text.ts';
import type { Match } from './rules.ts';

/** Words in their text, in order. */
export interface WordsIn {
  text: string;
  words: readonly Word[];
  ranges: readonly Range[];
}

/** What is not touched is the same object. */
export function wordsWith(said: WordsIn, matches: readonly Match[]): Word[] {
  const { words, ranges } = said;
  const replaced: Word[] = [];
  let next = 0;
  for (let index = 0; index < words.length; ) {
    while (next < matches.length && (matches[next] as Match).to <= (ranges[index] as Range).from) next++;
    const group = groupAt(said, matches, index, next);
    if (group === undefined) replaced.push(words[index++] as Word);
    else {
      replaced.push(...wordsOf(said, matches, group));
      index = group.endWord;
      next = group.endMatch;
    }
  }
  return replaced;
}

/** Words and matches that share something. */
interface Group {
  word: number;
  endWord: number;
  match: number;
  endMatch: number;
}

function groupAt({ ranges }: WordsIn, matches: readonly Match[], word: number, match: number): Group | undefined {
  let end = (ranges[word] as Range).to;
  let [endWord, endMatch] = [word + 1, match];
  for (;;) {
    const next = ranges[endWord];
    const found = matches[endMatch];
    if (found !== undefined && (found.from < end || joinsBefore(found, end, next))) {
      end = Math.max(end, found.to);
      endMatch++;
    } else if (
      endMatch > match &&
      next !== undefined &&
      (next.from < end ||
        (endsInGap(ranges[endWord - 1] as Range, end) && joinsBehind(matches[endMatch - 1], end, next)))
    ) {
      end = Math.max(end, next.to);
      endWord++;
    } else break;
  }
  return endMatch === match ? undefined : { word, endWord, match, endMatch };
}

/** Whether it takes the space behind a word with it, so that what follows is joined to that word. */
const joinsBefore = ({ from, to, text }: Match, end: number, next: Range | undefined): boolean =>
  from === end && next !== undefined && next.from > end && to > next.from && !/^\s/.test(text);

/** Whether it takes the space before a word with it, so that the word is joined to what was put there. */
const joinsBehind = (last: Match | undefined, end: number, next: Range): boolean =>
  last?.to === end && next.from === end && /\S$/.test(last.text);

const endsInGap = ({ to }: Range, end: number): boolean => to < end;

/** A word to be, with the stretch of the text that it stands for. */
interface Piece extends Range {
  text: string;
}

function wordsOf(said: WordsIn, matches: readonly Match[], group: Group): Word[] {
  const pieces = new Pieces();
  let at = (said.ranges[group.word] as Range).from;
  const end = (said.ranges[group.endWord - 1] as Range).to;
  for (let index = group.match; index < group.endMatch; index++) {
    const match = matches[index] as Match;
    pieces.keep(said.text.slice(at, match.from), at);
    pieces.put(match, stretchesOf(match, said, group));
    at = Math.max(at, match.to);
  }
  if (at < end) pieces.keep(said.text.slice(at, end), at);
  return pieces.all().map((piece) => wordAt(piece, said, group));
}

/** The stretch of the text for each word that is put there: as they were, where there are as many, and else by length. */
function stretchesOf({ from, to, text }: Match, said: WordsIn, group: Group): Range[] {
  const parts = [...text.matchAll(/\S+/g)];
  const within: Range[] = [];
  for (let index = group.word; index < group.endWord; index++) {
    const range = said.ranges[index] as Range;
    if (range.from >= to || range.to <= from) continue;
    // Signs around what is replaced have no time of their own.
    const isFirst = !SAID.test(said.text.slice(range.from, Math.max(from, range.from)));
    const isLast = !SAID.test(said.text.slice(Math.min(to, range.to), range.to));
    within.push({ from: isFirst ? range.from : from, to: isLast ? range.to : to });
  }
  if (within.length === parts.length) return within;
  const [first = { from, to }] = within;
  const start = first.from;
  const length = (within.at(-1) ?? first).to - start;
  const letters = parts.reduce((sum, [part]) => sum + part.length, 0);
  let before = 0;
  return parts.map(([part]) => {
    const stretch = { from: start + (length * before) / letters, to: 0 };
    before += part.length;
    stretch.to = start + (length * before) / letters;
    return stretch;
  });
}

class Pieces {
  readonly #pieces: Piece[] = [];
  #isOpen = false;
  /** Only signs so far: the piece stands where its first letter does. */
  #isSaid = false;

  keep(text: string, at: number): void {
    for (const { 0: part, index } of text.matchAll(/\s+|\S+/g)) {
      if (part.trim() === '') this.#isOpen = false;
      else this.#add(part, { from: at + index, to: at + index + part.length });
    }
  }

  put({ text }: Match, stretches: readonly Range[]): void {
    let index = 0;
    for (const [part] of text.matchAll(/\s+|\S+/g)) {
      if (part.trim() === '') this.#isOpen = false;
      else this.#add(part, stretches[index++] as Range);
    }
  }

  all(): readonly Piece[] {
    return this.#pieces;
  }

  #add(text: string, { from, to }: Range): void {
    const isSaid = SAID.test(text);
    const last = this.#isOpen ? this.#pieces.at(-1) : undefined;
    if (last === undefined) {
      this.#pieces.push({ text, from, to });
      this.#isSaid = isSaid;
    } else {
      last.text += text;
      if (isSaid) last.to = to;
      if (isSaid && !this.#isSaid) last.from = from;
      this.#isSaid ||= isSaid;
    }
    this.#isOpen = true;
  }
}

function wordAt({ text, from, to }: Piece, { words, ranges }: WordsIn, group: Group): Word {
  let first = group.word;
  while (first < group.endWord - 1 && (ranges[first] as Range).to <= from) first++;
  let last = group.endWord - 1;
  while (last > first && (ranges[last] as Range).from >= to) last--;
  const start = timeAt(from, words[first] as Word, ranges[first] as Range);
  const end = Math.max(start, timeAt(to, words[last] as Word, ranges[last] as Range));
  const { speaker } = words[first] as Word;
  const word: Word = { word: text, start, end };
  const confidence = lowest(words.slice(first, last + 1));
  if (confidence !== undefined) word.confidence = confidence;
  if (speaker !== undefined) word.speaker = speaker;
  return word;
}

function timeAt(place: number, { start, end }: Word, { from, to }: Range): number {
  if (place <= from || from === to) return start;
  if (place >= to) return end;
  const time = start + ((end - start) * (place - from)) / (to - from);
  return Math.min(Math.max(Math.round(time * 1000) / 1000, Math.min(start, end)), Math.max(start, end));
}

/** Of words that became one: it is as sure as the least sure of them. */
function lowest(words: readonly Word[]): number | undefined {
  let confidence: number | undefined;
  for (const word of words) if (word.confidence !== undefined) confidence = Math.min(confidence ?? 1, word.confidence);
  return confidence;
}
