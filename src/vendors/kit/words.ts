// Words, speakers and utterances, made of what a provider says of them. Times are seconds.
import type { Utterance, Word } from '../../../machines/events.ts';

/** Speakers of one leg or file. */
const SPEAKERS_MAX = 256;

/** Numbers speakers from 0 in the order they are first heard, whatever the provider calls them. */
export class Speakers {
  readonly #numbers = new Map<string | number, number>();
  readonly #nobody: readonly string[];
  readonly #most: number;

  /**
   * @param nobody labels that stand for no one
   * @param most speakers that get a number; further ones get none
   */
  constructor(nobody: readonly string[] = [], most = SPEAKERS_MAX) {
    this.#nobody = nobody;
    this.#most = most;
  }

  /** The number of a speaker by a label that is a text or a number; undefined for what is none, and once there are too many. */
  numberOf(label: unknown): number | undefined {
    if (typeof label !== 'number' && (typeof label !== 'string' || label === '')) return undefined;
    const known = this.#numbers.get(label);
    if (known !== undefined || this.#numbers.size >= this.#most) return known;
    if (this.#nobody.includes(String(label))) return undefined;
    this.#numbers.set(label, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}

/** What may be known of an utterance beside its text and its place. */
interface Details {
  confidence?: number | undefined;
  speaker?: number | undefined;
  language?: string | undefined;
  words?: Word[] | undefined;
  noSpeech?: true | undefined;
}

// Members are added one by one: objects made of spreads are slow, and these are made for every word of every message.

/** A word; it does not end before it begins. */
export function wordOf(word: string, start: number, end: number, confidence?: number, speaker?: number): Word {
  const made: Word = { word, start, end: Math.max(start, end) };
  if (confidence !== undefined) made.confidence = confidence;
  if (speaker !== undefined) made.speaker = speaker;
  return made;
}

/** An utterance with what is known of it. */
export function utteranceOf(
  text: string,
  start: number,
  end: number,
  { confidence, speaker, language, words, noSpeech }: Details = {},
): Utterance {
  const made: Utterance = { text, start, end };
  if (confidence !== undefined) made.confidence = confidence;
  if (speaker !== undefined) made.speaker = speaker;
  if (language !== undefined) made.language = language;
  if (words !== undefined) made.words = words;
  if (noSpeech !== undefined) made.noSpeech = noSpeech;
  return made;
}

/** The speaker of all the words, where they have one and the same. */
export function oneSpeaker(words: readonly Word[] = []): number | undefined {
  const speaker = words[0]?.speaker;
  return words.every((word) => word.speaker === speaker) ? speaker : undefined;
}

/** The mean confidence of words, where any has one. */
export function meanConfidence(words: readonly { confidence?: number | undefined }[]): number | undefined {
  let [sum, known] = [0, 0];
  for (const { confidence } of words) {
    if (confidence === undefined) continue;
    sum += confidence;
    known++;
  }
  return known === 0 ? undefined : sum / known;
}

/**
 * An utterance that lasts as long as the file where nothing but the provider's length of the file told when it ends: that length may be
 * zero, or too short.
 */
export function lasting(utterance: Utterance, claimedSeconds: number, fileSeconds: number): Utterance {
  const { start, end, words = [], text } = utterance;
  const isTimed = words.length > 0 || text === '' || start > 0 || (end > 0 && end !== claimedSeconds);
  return isTimed ? utterance : { ...utterance, end: fileSeconds };
}

export const textOf = (words: readonly Word[]): string => words.map(({ word }) => word).join(' ');

/** Words of a text that are parted by spaces. */
export const wordCount = (text: string): number => text.match(/\S+/g)?.length ?? 0;

/** Words made of parts of words, which bring their own spaces: one begins where there is a space. */
export function spaced(utterance: Utterance): Utterance {
  const words: Word[] = [];
  let isOpen = false;
  for (const { word: part, ...rest } of utterance.words ?? []) {
    const last = isOpen && !/^\s/.test(part) ? words.at(-1) : undefined;
    if (last === undefined) words.push({ ...rest, word: part.trim() });
    else Object.assign(last, { word: last.word + part.trim(), end: Math.max(last.end, rest.end) });
    isOpen = !/\s$/.test(part);
  }
  const named = words.filter(({ word }) => word !== '');
  return { ...utterance, text: utterance.text.trim(), ...(utterance.words === undefined ? {} : { words: named }) };
}

/** An utterance of words that stand together. */
export function utteranceOfWords(words: Word[], text: string, confidence = meanConfidence(words)): Utterance {
  const start = words[0]?.start ?? 0;
  const end = Math.max(start, words.at(-1)?.end ?? 0);
  return utteranceOf(text, start, end, { confidence, words, speaker: oneSpeaker(words) });
}

/**
 * The words of a whole file, cut where sentences end and where another speaks: captions of a file in one piece are of no use.
 * Where the words do not make up the text (there are no spaces, say) it stays whole.
 */
export function sentencesOf(words: Word[], text = textOf(words), confidence?: number | undefined): Utterance[] {
  if (text === '') return [];
  if (textOf(words) !== text) return [utteranceOfWords(words, text, confidence)];
  const sentences: Utterance[] = [];
  let from = 0;
  for (const [index, { word, speaker }] of words.entries()) {
    const next = words[index + 1];
    if (next !== undefined && next.speaker === speaker && !/[.?!\u2026]["\u201d\u2019)]?$/.test(word)) continue;
    const sentence = words.slice(from, index + 1);
    sentences.push(utteranceOfWords(sentence, textOf(sentence)));
    from = index + 1;
  }
  return sentences;
}

/** A word as it is looked up: lower case, without the punctuation around it. */
export function bareWord(word: string): string {
  const characters = [...word.toLowerCase()];
  let [first, last] = [0, characters.length];
  while (first < last && PUNCTUATION.test(characters[first] as string)) first++;
  while (last > first && PUNCTUATION.test(characters[last - 1] as string)) last--;
  return characters.slice(first, last).join('') || word.toLowerCase();
}

const PUNCTUATION = /[\p{P}\p{S}]/u;
