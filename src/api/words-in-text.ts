// Where the words of a text lie in it.

export interface Range {
  from: number;
  to: number;
}

/** Signs and spaces between two words. */
const GAP_MAX = 64;
const SPACE = 0x20;
/** What is said, and not a sign. */
export const SAID = /[\p{L}\p{N}]/u;

type Words = readonly { readonly word: string }[];

/** Where each word is in its text; undefined where the words are not those of the text. */
export function rangesIn(text: string, words: Words): Range[] | undefined {
  let lower: string | undefined;
  const ranges: Range[] = [];
  let at = 0;
  for (const { word } of words) {
    const trimmed = word.trim();
    // Most words follow the one before them with a space, as they are.
    const next = text.charCodeAt(at) === SPACE ? at + 1 : at;
    if (trimmed !== '' && text.startsWith(trimmed, next)) {
      at = next + trimmed.length;
      ranges.push({ from: next, to: at });
      continue;
    }
    lower ??= text.toLowerCase();
    const isSame = lower.length === text.length;
    const within = isSame ? lower : text;
    const sought = isSame ? trimmed.toLowerCase() : trimmed;
    if (sought.length !== trimmed.length) return undefined;
    // A word further on would be another one.
    const from = within.slice(at, at + GAP_MAX + sought.length).indexOf(sought) + at;
    if (from < at || SAID.test(text.slice(at, from))) return undefined;
    ranges.push({ from, to: from + sought.length });
    at = from + sought.length;
  }
  return SAID.test(text.slice(at)) ? undefined : ranges;
}

/** The words one after the other, with a space between them. */
export function wordsAsText(words: Words): { text: string; ranges: Range[] } {
  const ranges: Range[] = [];
  let length = 0;
  for (const { word } of words) {
    ranges.push({ from: length, to: length + word.length });
    length += word.length + 1;
  }
  return { text: words.map(({ word }) => word).join(' '), ranges };
}
