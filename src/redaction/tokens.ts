// A text as tokens: runs of digits, words in lower case, and single symbols. One pass, whatever the text is. What a reader does not see,
// such as zero-width characters and markup, is in no token and divides none.
import {
  type Character,
  characterAt,
  isInvisible,
  isLetter,
  isMark,
  isSpace,
  letterForms,
  tagEnd,
} from './characters.ts';

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

const APOSTROPHES = "'’";
const TAG = 0x3c;
/** How "at" and "dot" are written to be read by people alone: "john (at) example [dot] com". */
const BRACKETED = new Set(['at', 'dot', 'arroba', 'arobase', 'punkt', 'punto', 'point', 'ät']);
const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let isSpaced = false;
  let at = 0;
  while (at < text.length) {
    const from = at;
    const character = characterAt(text, at);
    const { code, width } = character;
    const tag = code === TAG ? tagEnd(text, at) : undefined;
    if (tag !== undefined) at = tag;
    else if (isInvisible(code)) at += width;
    else if (isSpace(code)) {
      isSpaced = true;
      at += width;
    } else {
      const token = tokenAt(text, from, character, isSpaced);
      tokens.push(token);
      if (token.kind === 'symbol') joinBracketed(tokens);
      at = token.to;
      isSpaced = false;
    }
  }
  return tokens;
}

function tokenAt(text: string, from: number, { code, digit, width }: Character, isSpaced: boolean): Token {
  if (digit !== undefined) return digitsAt(text, from, isSpaced);
  if (isLetter(code)) {
    const to = endOfWord(text, from);
    return { kind: 'word', text: wordOf(text.slice(from, to)), from, to, isSpaced };
  }
  const to = from + width;
  return { kind: 'symbol', text: code < 0x80 ? String.fromCharCode(code) : text.slice(from, to), from, to, isSpaced };
}

function digitsAt(text: string, from: number, isSpaced: boolean): Token {
  let digits = '';
  let to = from;
  for (let at = from; at < text.length; ) {
    const { code, digit, width } = characterAt(text, at);
    const tag = code === TAG ? tagEnd(text, at) : undefined;
    if (digit !== undefined) {
      digits += digit;
      to = at + width;
    } else if (tag === undefined && !isInvisible(code) && !isMark(code)) break;
    at = tag ?? at + width;
  }
  return { kind: 'digits', text: digits, from, to, isSpaced };
}

/** With one kind of apostrophe and of letters. */
function wordOf(text: string): string {
  const lower = text.toLowerCase();
  return letterForms(lower).replaceAll('’', "'");
}

/** An apostrophe within a word belongs to it. */
function endOfWord(text: string, from: number): number {
  let to = from;
  for (let at = from; at < text.length; ) {
    const code = text.codePointAt(at) as number;
    const next = at + (code > 0xffff ? 2 : 1);
    if (isLetter(code)) to = next;
    else if (!isInvisible(code) && !(APOSTROPHES.includes(text[at] as string) && isLetter(text.codePointAt(next) ?? 0)))
      break;
    at = next;
  }
  return to;
}

/** "(at)" becomes one word. */
function joinBracketed(tokens: Token[]): void {
  const close = tokens.at(-1) as Token;
  const opening = OPENING[close.text];
  if (opening === undefined) return;
  const [open, word] = [tokens.at(-3), tokens.at(-2)];
  if (open?.text !== opening || word?.kind !== 'word' || !BRACKETED.has(word.text)) return;
  tokens.splice(-3, 3, { ...word, from: open.from, to: close.to, isSpaced: open.isSpaced });
}
