// A text as the words, signs and characters that rules are compared with.

export interface Token {
  from: number;
  to: number;
  /** In lower case, composed; a space in front of it where one is in the text. */
  key: string;
  /** `character`: of a script that has no spaces between words. */
  kind: 'word' | 'sign' | 'character';
  isApart: boolean;
}

const SPACELESS = '[\\p{scx=Hani}\\p{scx=Hira}\\p{scx=Kana}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}]';
const TOKEN = new RegExp(`(?:(?!${SPACELESS})[\\p{L}\\p{M}\\p{N}])+|(${SPACELESS}\\p{M}*)|(\\S)`, 'gu');
const APOSTROPHES = /[\u2019\u02bc\uff07]/;

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [said, character, sign] = match;
    const from = match.index;
    const isApart = from > end;
    end = from + said.length;
    const key = sign !== undefined && APOSTROPHES.test(sign) ? "'" : said.normalize('NFC').toLowerCase();
    const kind = sign !== undefined ? 'sign' : character !== undefined ? 'character' : 'word';
    tokens.push({ from, to: end, key: isApart && tokens.length > 0 ? ` ${key}` : key, kind, isApart });
  }
  return tokens;
}

/** What is before an apostrophe and a word of its own: l’avion, qu’il. */
const ELISION = /^ ?(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)$/;
const DIVIDERS = /^[.,:/]$/;

/** Whether a word begins at the token. An apostrophe within a word and the signs within a number do not divide it. */
export function beginsAt(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index] as Token;
  const sign = tokens[index - 1];
  const before = tokens[index - 2];
  if (token.kind !== 'word' || token.isApart || sign?.kind !== 'sign' || sign.isApart || before?.kind !== 'word')
    return true;
  if (keyOf(sign) === "'") return keyOf(token) === 's' ? false : ELISION.test(before.key) && token.key.length > 1;
  return !isWithinNumber(before, sign, token);
}

/** Whether one ends with it. A final ’s is not part of the word before it. */
export function endsAt(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index] as Token;
  const sign = tokens[index + 1];
  const after = tokens[index + 2];
  if (token.kind !== 'word' || sign?.kind !== 'sign' || sign.isApart || after?.kind !== 'word' || after.isApart)
    return true;
  if (sign.key === "'") return after.key === 's';
  return !isWithinNumber(token, sign, after);
}

const keyOf = ({ key, isApart }: Token): string => (isApart ? key.trimStart() : key);

const isWithinNumber = (before: Token, sign: Token, after: Token): boolean =>
  DIVIDERS.test(keyOf(sign)) && /\d$/.test(before.key) && /^ ?\d/.test(after.key);
