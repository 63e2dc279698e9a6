// The words of a leg's finals and where they were, so that a final said again is known under whatever name it comes. Only the same
// words at the same place are the same: two turns that touch may say the same, and clocks jitter by some milliseconds.
import type { Utterance, Word } from '../../../../machines/events.ts';

/** Finals and words that are remembered. */
const FINALS_MAX = 128;
const WORDS_MAX = 1_024;
/** Two that lie together have this much of the shorter one's time in common. */
const SHARE_MIN = 0.5;
/**
 * A repetition begins or ends within this of the first, in seconds; a longer one within a part of its length. People say a word again
 * right after it, and times jitter by up to 0.1 s: a short word of its own must not be taken for a repetition.
 */
const shiftMax = (length: number): number => Math.max(0.05, length / 2 - 0.2);
/** Times are rounded, and a text without length lies where it is said to be. */
const ROUNDING_SECONDS = 0.01;
/** Times are told in milliseconds: what is shorter has no length. */
const LENGTH_MIN_SECONDS = 0.0005;
/** So far before the end of the last final another one may begin without its clock having gone back. */
const REACH_SECONDS = 0.3;

type Place = Pick<Word, 'start' | 'end'>;

const lengthOf = ({ start, end }: Place): number => end - start;
const isPoint = (place: Place): boolean => lengthOf(place) < LENGTH_MIN_SECONDS;
/** Timed words without length are somewhere, and may be others that are there as well: their place says nothing. */
const isUnplaced = ({ start, end, words = [] }: Utterance): boolean => words.length > 0 && isPoint({ start, end });

export class ToldWords {
  readonly #finals = new ToldTexts(FINALS_MAX);
  readonly #words = new ToldTexts(WORDS_MAX);
  #end = Number.NEGATIVE_INFINITY;
  #hasGoneBack = false;

  /** The provider's clock has gone back, so that places say little. */
  get hasGoneBack(): boolean {
    return this.#hasGoneBack;
  }

  /** Words were settled. */
  note(utterance: Utterance): void {
    const { text, end, words = [] } = utterance;
    if (text === '') return;
    if (!isUnplaced(utterance)) this.#finals.add(text, utterance);
    for (const word of words) if (!isPoint(word)) this.#words.add(word.word, word);
    if (end > this.#end) this.#end = end;
  }

  /** The utterance without what was told before; undefined where nothing of it is new. */
  without(utterance: Utterance): Utterance | undefined {
    const { text, start, words } = utterance;
    // As a rule speech continues behind what was told.
    if (text === '' || !(start < this.#end + ROUNDING_SECONDS)) return utterance;
    if (!isUnplaced(utterance) && this.#finals.has(text, utterance)) return undefined;
    const fresh = words?.filter((word) => !this.#isTold(word));
    if (words === undefined || fresh === undefined || fresh.length === words.length) {
      this.#noteDisorder(utterance);
      return utterance;
    }
    // Where all of it lies in what was told, the rest is another version of that.
    const isWithin = utterance.end <= this.#end + ROUNDING_SECONDS;
    if (fresh.length === 0 || (isWithin && fresh.length <= words.length / 2)) return undefined;
    const texts = text.match(/\S+/g) ?? [];
    // What the rest would be called cannot be known.
    if (texts.length !== words.length) return utterance;
    return {
      ...utterance,
      text: texts.filter((_, index) => fresh.includes(words[index] as Word)).join(' '),
      start: fresh[0]?.start ?? start,
      words: fresh,
    };
  }

  /** A word as short as that may be another that is there as well. */
  #isTold(word: Word): boolean {
    return lengthOf(word) > ROUNDING_SECONDS && this.#words.has(word.word, word);
  }

  /** Other words where some were told before: it is not the words that came twice, but the time. */
  #noteDisorder({ start, end }: Utterance): void {
    if (start > this.#end - REACH_SECONDS) return;
    this.#hasGoneBack ||= this.#finals.hasAnyAt({ start, end });
  }
}

/** Members of an entry: start, end, and the print of the text. */
const ENTRY = 3;

/**
 * Texts and their places, the latest of them. One array of numbers takes 24 bytes for each: a session of some minutes has a thousand words,
 * and as objects they would take four times as much and be looked at by each collection.
 */
class ToldTexts {
  readonly #entries: number[] = [];
  readonly #lengthMax: number;
  /** Where the next one goes, in the place of the oldest once there is no more room. */
  #at = 0;

  constructor(max: number) {
    this.#lengthMax = max * ENTRY;
  }

  add(text: string, { start, end }: Place): void {
    const entries = this.#entries;
    entries[this.#at] = start;
    entries[this.#at + 1] = end;
    entries[this.#at + 2] = printOf(plain(text));
    this.#at = (this.#at + ENTRY) % this.#lengthMax;
  }

  /** Whether the text was told at that place. */
  has(text: string, place: Place): boolean {
    const print = printOf(plain(text));
    const entries = this.#entries;
    for (let at = 0; at < entries.length; at += ENTRY)
      if (entries[at + 2] === print && isSamePlace(placeAt(entries, at), place)) return true;
    return false;
  }

  hasAnyAt(place: Place): boolean {
    for (let at = 0; at < this.#entries.length; at += ENTRY)
      if (isTogether(placeAt(this.#entries, at), place)) return true;
    return false;
  }
}

const placeAt = (entries: readonly number[], at: number): Place => ({
  start: entries[at] as number,
  end: entries[at + 1] as number,
});

/** Of a text, in the 53 bits of a whole number: two hashes in the manner of FNV-1a, so that chance makes no two texts the same. */
function printOf(text: string): number {
  let [high, low] = [0x811c9dc5, 0x01000193];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x85ebca6b) + (high >>> 15);
  }
  return (high >>> 0) * 2 ** 21 + ((low >>> 0) >>> 11);
}

/** Without marks and capitals, which formatted versions add. */
function plain(text: string): string {
  const bare = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return bare === '' ? text : bare;
}

function isSamePlace(told: Place, other: Place): boolean {
  if (!isTogether(told, other)) return false;
  const shift = Math.min(Math.abs(told.start - other.start), Math.abs(told.end - other.end));
  return shift <= shiftMax(Math.min(lengthOf(told), lengthOf(other)));
}

function isTogether(one: Place, other: Place): boolean {
  const common = Math.min(one.end, other.end) - Math.max(one.start, other.start);
  // Without an array: words are compared with each of a thousand others.
  const shorter = Math.min(lengthOf(one), lengthOf(other));
  if (Math.max(lengthOf(one), lengthOf(other)) < LENGTH_MIN_SECONDS) return false;
  // However short it is: what only touches another was said after it, or before it.
  return shorter < LENGTH_MIN_SECONDS ? common >= -ROUNDING_SECONDS : common >= shorter * SHARE_MIN;
}
