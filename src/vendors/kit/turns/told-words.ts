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

interface Told extends Place {
  text: string;
}

const lengthOf = ({ start, end }: Place): number => end - start;
const isPoint = (place: Place): boolean => lengthOf(place) < LENGTH_MIN_SECONDS;
/** Timed words without length are somewhere, and may be others that are there as well: their place says nothing. */
const isUnplaced = ({ start, end, words = [] }: Utterance): boolean => words.length > 0 && isPoint({ start, end });

export class ToldWords {
  #finals: Told[] = [];
  #words: Told[] = [];
  #end = Number.NEGATIVE_INFINITY;
  #hasGoneBack = false;

  /** The provider's clock has gone back, so that places say little. */
  get hasGoneBack(): boolean {
    return this.#hasGoneBack;
  }

  /** Words were settled. */
  note(utterance: Utterance): void {
    if (utterance.text === '') return;
    const { start, end, words = [] } = utterance;
    if (!isUnplaced(utterance)) this.#finals.push({ text: plain(utterance.text), start, end });
    for (const word of words) if (!isPoint(word)) this.#words.push(toldOf(word));
    if (this.#finals.length > FINALS_MAX) this.#finals.shift();
    if (this.#words.length > WORDS_MAX) this.#words = this.#words.slice(-WORDS_MAX);
    if (end > this.#end) this.#end = end;
  }

  /** The utterance without what was told before; undefined where nothing of it is new. */
  without(utterance: Utterance): Utterance | undefined {
    const { text, start, words } = utterance;
    // As a rule speech continues behind what was told.
    if (text === '' || !(start < this.#end + ROUNDING_SECONDS)) return utterance;
    const whole = { ...utterance, text: plain(text) };
    if (!isUnplaced(utterance) && this.#finals.some((told) => isSame(told, whole))) return undefined;
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
    if (lengthOf(word) <= ROUNDING_SECONDS) return false;
    const told = toldOf(word);
    return this.#words.some((other) => isSame(other, told));
  }

  /** Other words where some were told before: it is not the words that came twice, but the time. */
  #noteDisorder({ start, end }: Utterance): void {
    if (start > this.#end - REACH_SECONDS) return;
    this.#hasGoneBack ||= this.#finals.some((told) => isTogether(told, { start, end }));
  }
}

const toldOf = ({ word, start, end }: Word): Told => ({ text: plain(word), start, end });

/** Without marks and capitals, which formatted versions add. */
function plain(text: string): string {
  const bare = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return bare === '' ? text : bare;
}

function isSame(told: Told, other: Told): boolean {
  if (told.text !== other.text || !isTogether(told, other)) return false;
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
