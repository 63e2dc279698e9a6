// What a character of a text is to a reader: digits of any script, letters and signs in other widths, those that are written as
// entities, those that are not seen at all, and tags.

export interface Character {
  /** Of the plain form of it. */
  code: number;
  /** Undefined for what is not a digit. */
  digit: number | undefined;
  /** In the text, in UTF-16 code units. */
  width: number;
}

const ASCII = 0x80;
const LETTER = /[\p{L}\p{M}]/u;
const MARK = /\p{M}/u;
const SPACE = /\s/;
const INVISIBLE = /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/u;
const DIGIT = /\p{Nd}/u;
const AMPERSAND = 0x26;
/** Full stops of other scripts, which are dots in addresses as well. */
const STOPS = [0x3002, 0xff61];
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/iy;
const ENTITIES: Readonly<Record<string, number>> = {
  ...{ nbsp: 0xa0, ensp: 0x2002, emsp: 0x2003, thinsp: 0x2009, shy: 0xad, zwj: 0x200d, zwnj: 0x200c, lrm: 0x200e },
  ...{ rlm: 0x200f, commat: 0x40, period: 0x2e, hyphen: 0x2d, dash: 0x2d, lowbar: 0x5f, plus: 0x2b, amp: 0x26 },
};
/** With one short attribute at most, without digits: nothing that has to be found is within it. */
const MARKUP = /<\/?[a-z][a-z\d]{0,9}(?:-[a-z]{1,10})?(?:\s[a-z-]{1,16}="[^"<>@\d\s]{0,16}")?\s?\/?>/iy;

export function characterAt(text: string, at: number): Character {
  const code = text.codePointAt(at) as number;
  if (code < ASCII) {
    if (code === AMPERSAND) return entityAt(text, at);
    return { code, digit: code >= 0x30 && code <= 0x39 ? code - 0x30 : undefined, width: 1 };
  }
  return plain(code, code > 0xffff ? 2 : 1);
}

function entityAt(text: string, at: number): Character {
  ENTITY.lastIndex = at;
  const found = ENTITY.exec(text);
  const [whole = '&', decimal, hexadecimal, name] = found ?? [];
  const code = decimal ? Number(decimal) : hexadecimal ? Number.parseInt(hexadecimal, 16) : ENTITIES[name ?? ''];
  if (code === undefined || code > 0x10ffff) return { code: AMPERSAND, digit: undefined, width: 1 };
  if (code >= ASCII) return plain(code, whole.length);
  return { code, digit: code >= 0x30 && code <= 0x39 ? code - 0x30 : undefined, width: whole.length };
}

function plain(code: number, width: number): Character {
  const digit = digitOf(code);
  if (digit !== undefined) return { code, digit, width };
  if (STOPS.includes(code)) return { code: 0x2e, digit, width };
  const form = isLetter(code) ? '' : String.fromCodePoint(code).normalize('NFKC');
  // "＠" and "．", and no letters: those are read as words.
  return { code: form.length === 1 && form.charCodeAt(0) < ASCII ? form.charCodeAt(0) : code, digit, width };
}

function digitOf(code: number): number | undefined {
  if (code < 0xb2) return undefined;
  const letter = String.fromCodePoint(code);
  if (DIGIT.test(letter)) {
    // Digits of a script follow each other from its zero on.
    let first = code;
    while (DIGIT.test(String.fromCodePoint(first - 1))) first--;
    return (code - first) % 10;
  }
  const form = letter.normalize('NFKC');
  return form.length === 1 && form >= '0' && form <= '9' ? Number(form) : undefined;
}

export function isLetter(code: number): boolean {
  if (code < ASCII) return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
  return LETTER.test(String.fromCodePoint(code));
}

export const isMark = (code: number): boolean => code >= ASCII && MARK.test(String.fromCodePoint(code));

/** Not seen, and not read as a space. */
export const isInvisible = (code: number): boolean =>
  code < ASCII
    ? (code < 0x20 && (code < 0x09 || code > 0x0d)) || code === 0x7f
    : INVISIBLE.test(String.fromCodePoint(code));

export const isSpace = (code: number): boolean =>
  code < ASCII ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : SPACE.test(String.fromCodePoint(code));

/** Letters in their plain form, without those that are not seen. */
export function letterForms(word: string): string {
  for (let at = 0; at < word.length; at++)
    if (word.charCodeAt(at) >= ASCII)
      return word
        .replace(/[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, '')
        .normalize('NFKC')
        .toLowerCase();
  return word;
}

/** Where a tag of markup ends that begins there. */
export function tagEnd(text: string, at: number): number | undefined {
  MARKUP.lastIndex = at;
  return MARKUP.test(text) ? MARKUP.lastIndex : undefined;
}

/** Letters that look like Latin ones. */
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  ...{ а: 'a', в: 'b', с: 'c', е: 'e', н: 'h', і: 'i', ј: 'j', к: 'k', м: 'm', о: 'o', р: 'p', ѕ: 's', т: 't' },
  ...{ у: 'y', х: 'x', ԁ: 'd', ɡ: 'g', ԛ: 'q', ԝ: 'w' },
  ...{ α: 'a', β: 'b', ε: 'e', ι: 'i', κ: 'k', μ: 'm', ν: 'n', ο: 'o', ρ: 'p', τ: 't', υ: 'y', χ: 'x', ζ: 'z', η: 'h' },
};

/** A word as it looks. */
export function latinLooks(word: string): string {
  let looks = '';
  for (const letter of word) looks += letter < '\x80' ? letter : (LOOKS_LIKE[letter] ?? letter);
  return looks;
}
