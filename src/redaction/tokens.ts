// A text as tokens: runs of digits, words in lower case, and single symbols. One pass, whatever the text is.

export interface Token {
  kind: 'digits' | 'word' | 'symbol';
  /** Digits are ASCII, words are in lower case. */
  text: string;
  /** Where it lies in the text, in UTF-16 code units. */
  from: number;
  to: number;
  /** Whether white space is before it. */
  isSpaced: boolean;
}

const LETTER = /[\p{L}\p{M}]/u;
const ASCII = 0x80;
const SPACE = /\s/;
/** The zeros of the decimal digits that recognisers print beside ASCII: Arabic, Persian, Devanagari, Bengali, fullwidth. */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xff10];
const APOSTROPHES = "'’";

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let isSpaced = false;
  let at = 0;
  while (at < text.length) {
    const from = at;
    const code = text.codePointAt(at) as number;
    if (isSpace(code)) {
      isSpaced = true;
      at += widthOf(code);
      continue;
    }
    if (digitOf(code) !== undefined) {
      let digits = '';
      for (let digit = digitAt(text, at); digit !== undefined; digit = digitAt(text, at)) {
        digits += digit;
        at++;
      }
      tokens.push({ kind: 'digits', text: digits, from, to: at, isSpaced });
    } else if (isLetter(code)) {
      at = endOfWord(text, at);
      tokens.push({ kind: 'word', text: wordOf(text.slice(from, at)), from, to: at, isSpaced });
    } else {
      at += widthOf(code);
      tokens.push({ kind: 'symbol', text: text.slice(from, at), from, to: at, isSpaced });
    }
    isSpaced = false;
  }
  return tokens;
}

/** With one kind of apostrophe. */
function wordOf(text: string): string {
  const lower = text.toLowerCase();
  return lower.includes('’') ? lower.replaceAll('’', "'") : lower;
}

/** An apostrophe within a word belongs to it. */
function endOfWord(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.codePointAt(at) as number;
    if (isLetter(code)) at += widthOf(code);
    else if (APOSTROPHES.includes(text[at] as string) && isLetter(text.codePointAt(at + 1) ?? 0)) at++;
    else break;
  }
  return at;
}

const digitAt = (text: string, at: number): number | undefined =>
  at < text.length ? digitOf(text.charCodeAt(at)) : undefined;

function digitOf(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code < 0x660) return undefined;
  const zero = ZEROS.find((each) => code >= each && code <= each + 9);
  return zero === undefined ? undefined : code - zero;
}

function isLetter(code: number): boolean {
  if (code < ASCII) return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
  return LETTER.test(String.fromCodePoint(code));
}

const isSpace = (code: number): boolean =>
  code < ASCII ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : SPACE.test(String.fromCodePoint(code));

const widthOf = (code: number): number => (code > 0xffff ? 2 : 1);
