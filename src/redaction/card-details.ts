// What is said with a payment card: its security code, and until when it is valid. Behind the words for them, or right before "is the
// security code".
import { MONTHS } from './dates.ts';
import { type Match, matchOf, type Reading } from './match.ts';
import { isSeparator, type NumberItem, type Run } from './numbers.ts';
import type { Token } from './tokens.ts';

type Phrase = readonly string[];

function byFirstWord(phrases: readonly Phrase[]): ReadonlyMap<string, readonly Phrase[]> {
  const byWord = new Map<string, Phrase[]>();
  for (const phrase of phrases) {
    const [first = ''] = phrase;
    byWord.set(first, [...(byWord.get(first) ?? []), phrase]);
  }
  return byWord;
}

const CODES = byFirstWord([
  ...[['cvv'], ['cvv2'], ['cvc'], ['cvc2'], ['csc'], ['security', 'code'], ['security', 'number']],
  ...[
    ['card', 'verification'],
    ['verification', 'value'],
    ['digits', 'on', 'the', 'back'],
  ],
  ...[
    ['numbers', 'on', 'the', 'back'],
    ['c', 'v', 'v'],
    ['c', 'v', 'c'],
  ],
  ...[['prüfnummer'], ['kartenprüfnummer'], ['prüfziffer'], ['sicherheitscode'], ['cryptogramme']],
  ...[
    ['code', 'de', 'sécurité'],
    ['código', 'de', 'seguridad'],
  ],
]);
const EXPIRIES = byFirstWord([
  ...[['expires'], ['expire'], ['expiry'], ['expiration'], ['expiring'], ['exp'], ['valid', 'until']],
  ...[['valid', 'thru'], ['valid', 'through'], ['good', 'through'], ['gültig', 'bis'], ['ablaufdatum']],
  ...[['date', "d'expiration"], ['expire'], ['caduca'], ['vence'], ['caducidad'], ['vencimiento']],
]);
const CARDS = new Set([
  ...['card', 'visa', 'mastercard', 'amex', 'maestro', 'discover', 'kreditkarte', 'karte', 'carte', 'tarjeta'],
]);
/** Words between the words for it and the number. */
const GAP_TOKENS = 8;
/** From a number to the words for it: "123 is my security code". */
const LINK_WORDS_MAX = 3;
/** An offer expires as well: a card is named, or its number was said, so many tokens before at most. */
const CARD_TOKENS = 60;
const YEARS = { min: 20, max: 60 } as const;

export function findCardDetails(reading: Reading): Match[] {
  const { tokens, runs } = reading;
  const found: Match[] = [];
  let next = 0;
  let card = Number.NEGATIVE_INFINITY;
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== 'word') continue;
    if (CARDS.has(text)) card = at;
    while (next < runs.length && firstOf(runs[next] as Run).first <= at) {
      if ((runs[next] as Run).digits >= 12) card = at;
      next++;
    }
    const code = endOf(tokens, at, CODES);
    if (code !== undefined) {
      card = at;
      found.push(...codeAfter(reading, code, next), ...codeBefore(reading, at, next - 1));
    }
    const expiry = at - card <= CARD_TOKENS ? endOf(tokens, at, EXPIRIES) : undefined;
    if (expiry !== undefined) found.push(...expiryAfter(reading, expiry, next));
  }
  return found;
}

/** Whether the number there is what such words are about, whole or not. */
export function isCardDetail(tokens: readonly Token[], at: number): boolean {
  for (let before = Math.max(0, at - GAP_TOKENS - 4); before < at; before++)
    if (endOf(tokens, before, CODES) !== undefined) return true;
  return false;
}

const firstOf = (run: Run): NumberItem => run.items[0] as NumberItem;
const lastOf = (run: Run): NumberItem => run.items.at(-1) as NumberItem;

/** The token behind the phrase that begins there. */
function endOf(tokens: readonly Token[], at: number, phrases: ReturnType<typeof byFirstWord>): number | undefined {
  const phrase = phrases
    .get(plain(tokens[at]))
    ?.find((words) => words.every((word, index) => plain(tokens[at + index]) === word));
  return phrase === undefined ? undefined : at + phrase.length;
}

/** "the CVV's". */
const plain = (token: Token | undefined): string => {
  const text = token?.text ?? '';
  return text.endsWith("'s") ? text.slice(0, -2) : text;
};

/** The first run from there on, if it is near. @param from runs before it begin earlier */
function runAfter({ runs }: Reading, at: number, from: number): Run | undefined {
  let index = from;
  while (index < runs.length && firstOf(runs[index] as Run).first < at) index++;
  const run = runs[index];
  return run !== undefined && firstOf(run).first <= at + GAP_TOKENS ? run : undefined;
}

function codeAfter(reading: Reading, at: number, from: number): Match[] {
  const run = runAfter(reading, at, from);
  // Alone, or with the date behind it.
  return run !== undefined && [3, 4, 7, 8].includes(run.digits) ? [matchOf('card', firstOf(run), lastOf(run))] : [];
}

/** "123 is the security code". */
function codeBefore({ tokens, runs }: Reading, at: number, index: number): Match[] {
  const run = runs[index];
  if (run === undefined || (run.digits !== 3 && run.digits !== 4)) return [];
  const link = wordsBetween(tokens, lastOf(run).last + 1, at);
  const isLinked = link !== undefined && ['is', 'ist', 'est', 'es'].includes(link[0] ?? '');
  return isLinked ? [matchOf('card', firstOf(run), lastOf(run))] : [];
}

/** Undefined for more than a few. Read from the end: otherwise a text that repeats the words for it would be read again for each. */
function wordsBetween(tokens: readonly Token[], from: number, to: number): string[] | undefined {
  const words: string[] = [];
  for (let at = to - 1; at >= from; at--) {
    const token = tokens[at] as Token;
    if (isSeparator(token)) continue;
    if (words.length === LINK_WORDS_MAX) return undefined;
    words.unshift(token.text);
  }
  return words;
}

function expiryAfter(reading: Reading, at: number, from: number): Match[] {
  const run = runAfter(reading, at, from);
  if (run === undefined) return [];
  const { tokens } = reading;
  const first = firstOf(run);
  const digits = run.items.map((item) => item.digits).join('');
  const before = tokens[first.first - 1];
  const month = before?.text === 'of' ? tokens[first.first - 2] : before;
  if (month !== undefined && MONTHS.has(month.text))
    return (digits.length === 2 || digits.length === 4) && isYear(digits) ? [matchOf('card', month, lastOf(run))] : [];
  return isMonthAndYear(digits) ? [matchOf('card', first, lastOf(run))] : [];
}

const isMonthAndYear = (digits: string): boolean =>
  [1, 2].some((length) => {
    const month = Number(digits.slice(0, length));
    return month >= 1 && month <= 12 && isYear(digits.slice(length));
  });

/** "12/2027" and four digits. */
export const DATE_AND_CODE_DIGITS_MAX = 10;

/** Whether digits behind a card are its date, perhaps with its code. */
export const isDateAndCode = (digits: string): boolean =>
  [0, 3, 4].some((code) => digits.length > code && isMonthAndYear(digits.slice(0, digits.length - code)));

/** "27", "2027". */
function isYear(digits: string): boolean {
  if (digits.length !== 2 && !(digits.length === 4 && digits.startsWith('20'))) return false;
  const year = Number(digits.slice(-2));
  return year >= YEARS.min && year <= YEARS.max;
}
