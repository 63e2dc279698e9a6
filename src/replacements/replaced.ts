// Rules on what was said: its text, and its words with their times. A text in which nothing is found is left as it is, with its words.
import type { Word } from '../../machines/events.ts';
import type { Replacement } from '../api/replacements.ts';
import { type Range, rangesIn, SAID, wordsAsText } from '../api/words-in-text.ts';
import { type Match, Rules } from './rules.ts';
import { type WordsIn, wordsWith } from './words.ts';

/** Rules of several languages that are kept compiled. */
const LANGUAGES_KEPT_MAX = 8;

export interface Said {
  text: string;
  words?: Word[] | undefined;
  language?: string | undefined;
}

export interface Replaced {
  text: string;
  words?: Word[];
}

export interface ReplacerOptions {
  rules: readonly Replacement[];
  /** What the request names, for text of which the model reports no language. */
  language?: string | undefined;
  /** Labels of redaction, which stay as they are. */
  labels?: RegExp | undefined;
}

export class Replacer {
  readonly #options: ReplacerOptions;
  readonly #hasLanguages: boolean;
  readonly #compiled = new Map<string, Rules>();

  constructor(options: ReplacerOptions) {
    this.#options = options;
    this.#hasLanguages = options.rules.some(({ language }) => language !== undefined);
  }

  /** Undefined where nothing is found. */
  replaced({ text, words, language }: Said): Replaced | undefined {
    const rules = this.#rulesFor(language);
    const { labels } = this.#options;
    const matches = rules.find(text, labels);
    if (words === undefined || words.length === 0)
      return matches.length === 0 ? undefined : withWords(written(text, matches), words);
    const inOrder = rangesIn(text, words);
    // Words that are spelt in another way than the text: what is found in each is replaced there.
    const said: WordsIn =
      inOrder === undefined
        ? { words, ...wordsAsText(words) }
        : { words, text: spelling(text, words, inOrder), ranges: inOrder };
    const inText = inOrder === undefined ? matches : ofOneSpeaker(matches, said);
    const inWords = said.text === text ? inText : ofOneSpeaker(rules.find(said.text, labels), said);
    if (inText.length === 0 && inWords.length === 0) return undefined;
    const replaced = written(text, inText);
    return withWords(replaced, replaced === '' ? [] : wordsWith(said, tidied(said.text, inWords)));
  }

  /** Steps of all rules so far. */
  get steps(): number {
    let steps = 0;
    for (const rules of this.#compiled.values()) steps += rules.steps;
    return steps;
  }

  #rulesFor(reported: string | undefined): Rules {
    const { rules, language: requested } = this.#options;
    const languages = this.#hasLanguages ? languagesOf(reported, requested) : [];
    const name = languages.join();
    let compiled = this.#compiled.get(name);
    if (compiled === undefined) {
      if (this.#compiled.size === LANGUAGES_KEPT_MAX) this.#compiled.clear();
      // Those of a language come before those of any.
      const own = rules.filter(({ language }) => language !== undefined && isOf(language, languages));
      compiled = new Rules([...own, ...rules.filter(({ language }) => language === undefined)]);
      this.#compiled.set(name, compiled);
    }
    return compiled;
  }
}

const base = (language: string): string => language.split('-', 1)[0]?.toLowerCase() ?? '';

/** What a text is in: a model says `de` where `de-CH` was requested. */
function languagesOf(reported: string | undefined, requested: string | undefined): string[] {
  const asked = requested === 'auto' ? undefined : requested;
  if (reported === undefined) return asked === undefined ? [] : [asked];
  return asked !== undefined && asked !== reported && base(asked) === base(reported) ? [reported, asked] : [reported];
}

const isOf = (rule: string, languages: readonly string[]): boolean =>
  languages.some((language) => `${language}-`.toLowerCase().startsWith(`${rule}-`.toLowerCase()));

/** What two people say is not one phrase. */
function ofOneSpeaker(matches: readonly Match[], { words, ranges }: WordsIn): readonly Match[] {
  if (matches.length === 0 || words.every(({ speaker }) => speaker === words[0]?.speaker)) return matches;
  let index = 0;
  return matches.filter(({ from, to }) => {
    while (index < ranges.length && (ranges[index] as Range).to <= from) index++;
    const speaker = words[index]?.speaker;
    for (let each = index; each < ranges.length && (ranges[each] as Range).from < to; each++)
      if (words[each]?.speaker !== speaker) return false;
    return true;
  });
}

/** The text with the words in their own spelling, which may have other capitals. */
function spelling(text: string, words: readonly Word[], ranges: readonly Range[]): string {
  let spelt = '';
  let at = 0;
  for (const [index, { from, to }] of ranges.entries()) {
    spelt += text.slice(at, from) + (words[index] as Word).word.trim();
    at = to;
  }
  spelt += text.slice(at);
  return spelt.length === text.length ? spelt : text;
}

/** Without the signs where all words are left out. */
function written(text: string, matches: readonly Match[]): string {
  const replaced = textWith(text, tidied(text, matches));
  const isCut = matches.length > 0 && matches.every((match) => match.text === '');
  return isCut && !SAID.test(replaced) ? '' : replaced;
}

const withWords = (text: string, words: Word[] | undefined): Replaced =>
  words === undefined ? { text } : { text, words };

function textWith(text: string, matches: readonly Match[]): string {
  let replaced = '';
  let at = 0;
  for (const match of matches) {
    replaced += text.slice(at, match.from) + match.text;
    at = match.to;
  }
  return replaced + text.slice(at);
}

/** What is left out goes with the space next to it, and with a comma that would be the first sign of a sentence or the second in a row. */
function tidied(text: string, matches: readonly Match[]): readonly Match[] {
  if (matches.every((match) => match.text !== '')) return matches;
  let at = 0;
  /** Whether nothing is left of what was before. */
  let isFirst = true;
  return matches.map((match) => {
    const before = at;
    if (match.from > before && text.slice(before, match.from).trim() !== '') isFirst = false;
    let { from, to } = match;
    if (match.text === '') {
      const last = text
        .slice(Math.max(before, from - 2), from)
        .trimEnd()
        .at(-1);
      const isAfterSign = last === undefined ? isFirst : /[,;:.!?¿¡\u2014(]/.test(last);
      if (isAfterSign && text[to] === ',') to++;
      const isAtEnd = to === text.length || /[.,;:!?\u2026)]/.test(text[to] as string);
      if (isFirst || isSpace(text[from - 1])) while (isSpace(text[to])) to++;
      if (isAtEnd && to === match.to) while (from > before && isSpace(text[from - 1])) from--;
      if (from > before && text[from - 1] === ',' && /[.!?\u2026]/.test(text[to] ?? '')) from--;
    } else isFirst = false;
    at = to;
    return { from, to, text: match.text };
  });
}

const isSpace = (char: string | undefined): boolean => char !== undefined && /\s/.test(char);
