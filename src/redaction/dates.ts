// Dates of birth: a date near a word such as "born". A year alone is none.
import { type Match, matchOf, type Reading } from './match.ts';
import { isSeparator } from './numbers.ts';
import type { Token } from './tokens.ts';

export const MONTHS: ReadonlySet<string> = new Set([
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november'],
  ...['december', 'jan', 'feb', 'mar', 'apr', 'jun', 'jul', 'aug', 'sep', 'sept', 'oct', 'nov', 'dec'],
  ...['januar', 'februar', 'märz', 'mai', 'juni', 'juli', 'oktober', 'dezember'],
  ...['janvier', 'février', 'mars', 'avril', 'juin', 'juillet', 'août', 'septembre', 'octobre', 'novembre', 'décembre'],
  ...['enero', 'febrero', 'marzo', 'abril', 'mayo', 'junio', 'julio', 'agosto', 'septiembre', 'octubre', 'noviembre'],
  ...['diciembre'],
]);
const ORDINALS = new Set([
  ...['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth', 'eleventh'],
  ...['twelfth', 'thirteenth', 'fourteenth', 'fifteenth', 'sixteenth', 'seventeenth', 'eighteenth', 'nineteenth'],
  ...['twentieth', 'thirtieth', 'premier', 'primero'],
]);
/** What is said within a date. */
const LINKS = new Set(['of', 'the', 'st', 'nd', 'rd', 'th', 'de', 'del', 'in', 'uh', 'um', 'and', "'"]);
const BIRTH = new Set([
  ...['born', 'birth', 'birthday', 'birthdate', 'dob', 'geboren', 'geburtsdatum', 'geburtstag', 'né', 'née'],
  ...['naissance', 'anniversaire', 'nacido', 'nacida', 'nací', 'nacimiento', 'cumpleaños'],
]);
/** Tokens between such a word and a date. */
const BEFORE_TOKENS = 10;
const AFTER_TOKENS = 7;
const DATE_TOKENS_MAX = 16;

interface DateFound {
  first: number;
  last: number;
  /** Whether a day is told, and not only a part of one. */
  isWhole: boolean;
}

export function findDates(reading: Reading): Match[] {
  const { tokens } = reading;
  const found: Match[] = [];
  const births = birthsOf(tokens);
  if (births.length === 0) return found;
  for (let at = 0; at < tokens.length; at++) {
    if (!isNear(births, at)) continue;
    const date = dateAt(reading, at);
    if (date === undefined) continue;
    if (date.isWhole && isOfBirth(tokens, date, births)) {
      const article = tokens[date.first - 1];
      const first = article?.text === 'the' ? article : (tokens[date.first] as Token);
      found.push(matchOf('date_of_birth', first, tokens[date.last] as Token));
    }
    at = date.last;
  }
  return found;
}

/** Where such words are, in their order. "d o b" is one. */
function birthsOf(tokens: readonly Token[]): number[] {
  const births: number[] = [];
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== 'word') continue;
    const isSpelt = text === 'b' && tokens[at - 1]?.text === 'o' && tokens[at - 2]?.text === 'd';
    if (BIRTH.has(text) || isSpelt) births.push(at);
  }
  return births;
}

/** The first such word that is not long before the token; by halves. */
function firstFrom(births: readonly number[], at: number): number | undefined {
  let [low, high] = [0, births.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((births[middle] as number) < at) low = middle + 1;
    else high = middle;
  }
  return births[low];
}

function isNear(births: readonly number[], at: number): boolean {
  const next = firstFrom(births, at - BEFORE_TOKENS);
  return next !== undefined && next <= at + DATE_TOKENS_MAX + AFTER_TOKENS;
}

/** Behind the word, or right before "is my birthday". */
function isOfBirth(tokens: readonly Token[], { first, last }: DateFound, births: readonly number[]): boolean {
  const before = firstFrom(births, first - BEFORE_TOKENS);
  if (before !== undefined && before < first) return true;
  const after = firstFrom(births, last);
  if (after === undefined || after > last + AFTER_TOKENS) return false;
  const link = tokens[last + 1]?.text ?? '';
  return ['is', 'was', 'ist', 'est', 'es'].includes(link);
}

function dateAt({ tokens, itemAt }: Reading, from: number): DateFound | undefined {
  let [months, days, digits, groups] = [0, 0, 0, 0];
  let last = -1;
  let at = from;
  while (at < tokens.length && at - from < DATE_TOKENS_MAX) {
    const token = tokens[at] as Token;
    const item = itemAt.get(at);
    if (item !== undefined) {
      // Three parts in digits are a whole date: what follows is none of it.
      if (item.digits.length > 8 || digits + item.digits.length > 8) break;
      digits += item.digits.length;
      groups++;
      last = item.last;
      at = item.last + 1;
      continue;
    }
    if (token.kind === 'word' && MONTHS.has(token.text)) {
      if (months > 0) break;
      months++;
      last = at;
    } else if (token.kind === 'word' && ORDINALS.has(token.text)) {
      days++;
      last = at;
    } else if (last < 0 || !(LINKS.has(token.text) || isSeparator(token))) break;
    else if ('?!;'.includes(token.text)) break;
    at++;
  }
  if (last < 0) return undefined;
  const parts = groups + days;
  const isWhole =
    months > 0 ? parts > 0 && (parts > 1 || days > 0 || digits <= 2) : (groups >= 3 && digits >= 4) || digits === 8;
  return { first: from, last, isWhole };
}

/** The first token of a date of birth that the text ends in, whole or not. */
export function openDate(reading: Reading): number | undefined {
  const { tokens } = reading;
  const births = birthsOf(tokens);
  for (let at = Math.max(0, tokens.length - DATE_TOKENS_MAX); at < tokens.length; at++) {
    const date = dateAt(reading, at);
    if (date === undefined) continue;
    let rest = date.last + 1;
    while (rest < tokens.length && (isSeparator(tokens[rest] as Token) || LINKS.has((tokens[rest] as Token).text)))
      rest++;
    if (rest >= tokens.length) {
      const before = firstFrom(births, at - BEFORE_TOKENS);
      return before !== undefined && before < at ? at : undefined;
    }
    at = date.last;
  }
  return undefined;
}
