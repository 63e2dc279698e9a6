// The numbers of a text, printed or spoken, as digits: "41 11", "four one one one", "forty-one eleven", "double five", "oh". English
// in full; single digits in German, French and Spanish.
import type { Token } from './tokens.ts';

export interface NumberItem {
  digits: string;
  /** In the text. */
  from: number;
  to: number;
  /** Of the tokens. */
  first: number;
  last: number;
  isSpoken: boolean;
}

/** Numbers between which nothing is said that ends a number. */
export interface Run {
  items: NumberItem[];
  digits: number;
}

const UNITS: Readonly<Record<string, string>> = {
  ...{ zero: '0', nought: '0', naught: '0', one: '1', two: '2', three: '3', four: '4', five: '5', six: '6' },
  ...{ seven: '7', eight: '8', nine: '9', niner: '9' },
  ...{ null: '0', eins: '1', zwei: '2', zwo: '2', drei: '3', vier: '4', fünf: '5', sechs: '6', sieben: '7' },
  ...{ acht: '8', neun: '9' },
  ...{ zéro: '0', un: '1', deux: '2', trois: '3', quatre: '4', cinq: '5', sept: '7', huit: '8', neuf: '9' },
  ...{ cero: '0', uno: '1', dos: '2', tres: '3', cuatro: '4', cinco: '5', seis: '6', siete: '7', ocho: '8' },
  ...{ nueve: '9' },
};
const TEENS: Readonly<Record<string, string>> = {
  ...{ ten: '10', eleven: '11', twelve: '12', thirteen: '13', fourteen: '14', fifteen: '15', sixteen: '16' },
  ...{ seventeen: '17', eighteen: '18', nineteen: '19' },
};
const TENS: Readonly<Record<string, string>> = {
  ...{ twenty: '2', thirty: '3', forty: '4', fourty: '4', fifty: '5', sixty: '6', seventy: '7', eighty: '8' },
  ...{ ninety: '9' },
};
const TIMES: Readonly<Record<string, number>> = { double: 2, triple: 3, treble: 3, quadruple: 4 };
/** Zero between digits; something else anywhere else. */
const ZERO_BETWEEN: readonly string[] = ['oh', 'o', 'ow'];
/** What recognisers write for a spoken digit, between two others. */
const SOUNDS_LIKE: Readonly<Record<string, string>> = { to: '2', too: '2', for: '4', fore: '4', ate: '8', won: '1' };

/** What people say within a number, and how its parts are separated in print. */
const FILLERS = new Set([
  ...['uh', 'um', 'er', 'erm', 'uhm', 'ah', 'hmm', 'mm', 'mhm', 'okay', 'ok', 'so', 'then', 'yeah', 'yes', 'right'],
  ...['space', 'dash', 'hyphen', 'minus', 'slash', 'comma', 'äh', 'ähm', 'euh', 'eh', 'sorry', 'wait', 'well', 'next'],
]);
const SEPARATORS = new Set([...'-–—‐‑.,/()_!?…*|~·•‧∙⋅"“”[]']);
/** Between groups of so many digits as well; times have fewer. */
const GROUP_SEPARATORS = new Set([...':;']);
const GROUP_DIGITS_MIN = 3;
/** Tokens between two numbers of a run. */
const BETWEEN_MAX = 4;
/** Digits of a number from which "and" continues it. */
const AND_DIGITS_MIN = 8;

export const isSeparator = ({ kind, text }: Token): boolean =>
  kind === 'symbol' ? SEPARATORS.has(text) : kind === 'word' && FILLERS.has(text);

/** Most words are none of these. */
const NUMBER_WORDS = new Set([
  ...[UNITS, TEENS, TENS, TIMES, SOUNDS_LIKE].flatMap((table) => Object.keys(table)),
  ...ZERO_BETWEEN,
]);

const own = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

export function numbersOf(tokens: readonly Token[]): NumberItem[] {
  const items: NumberItem[] = [];
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at] as Token;
    if (token.kind === 'digits') {
      items.push({ digits: token.text, from: token.from, to: token.to, first: at, last: at, isSpoken: false });
      at++;
      continue;
    }
    const isNumber = token.kind === 'word' && NUMBER_WORDS.has(token.text);
    const spoken = isNumber ? spokenAt(tokens, at, items.at(-1)) : undefined;
    if (spoken === undefined) {
      at++;
      continue;
    }
    const { digits, next } = spoken;
    const { to } = tokens[next - 1] as Token;
    items.push({ digits, from: token.from, to, first: at, last: next - 1, isSpoken: true });
    at = next;
  }
  return items;
}

interface Spoken {
  digits: string;
  next: number;
}

function spokenAt(tokens: readonly Token[], at: number, before: NumberItem | undefined): Spoken | undefined {
  const word = wordAt(tokens, at);
  if (word === undefined) return undefined;
  const times = own(TIMES, word);
  if (times !== undefined) {
    const digit = digitAt(tokens, at + 1);
    return digit === undefined ? undefined : { digits: digit.repeat(times), next: at + 2 };
  }
  const isBehind = before !== undefined && isBetween(tokens, before.last + 1, at);
  if (ZERO_BETWEEN.includes(word)) {
    // As in "oh, two, two".
    const isComma = tokens[at + 1]?.text === ',' && isSpokenDigit(tokens, at + 2) && tokens[at + 3]?.text === ',';
    return isBehind || isComma || digitAt(tokens, at + 1) !== undefined ? { digits: '0', next: at + 1 } : undefined;
  }
  const likely = own(SOUNDS_LIKE, word);
  if (likely !== undefined) {
    const isWithin = before?.last === at - 1 && before.digits.length === 1 && before.isSpoken;
    return isWithin && isSpokenDigit(tokens, at + 1) ? { digits: likely, next: at + 1 } : undefined;
  }
  const small = smallAt(tokens, at);
  return small === undefined ? undefined : withHundreds(tokens, small);
}

/** From 0 to 99. */
function smallAt(tokens: readonly Token[], at: number): Spoken | undefined {
  const word = wordAt(tokens, at);
  if (word === undefined) return undefined;
  const alone = own(UNITS, word) ?? own(TEENS, word);
  if (alone !== undefined) return { digits: alone, next: at + 1 };
  const tens = own(TENS, word);
  if (tens === undefined) return undefined;
  const hyphen = tokens[at + 1];
  const isHyphen = hyphen?.kind === 'symbol' && !hyphen.isSpaced && (hyphen.text === '-' || hyphen.text === '‑');
  const behind = isHyphen ? at + 2 : at + 1;
  const unit = own(UNITS, wordAt(tokens, behind) ?? '');
  return unit === undefined || unit === '0'
    ? { digits: `${tens}0`, next: at + 1 }
    : { digits: `${tens}${unit}`, next: behind + 1 };
}

/** "forty-one hundred", "four thousand one hundred and eleven". */
function withHundreds(tokens: readonly Token[], small: Spoken): Spoken {
  let { digits, next } = small;
  let value = Number(digits);
  let isLarge = false;
  const rest = (base: number): void => {
    const isAnd = wordAt(tokens, next) === 'and';
    const more = smallAt(tokens, isAnd ? next + 1 : next);
    // "hundred oh one" are digits; "hundred five" is a number.
    if (more === undefined || Number(more.digits) === 0) return;
    value = base + Number(more.digits);
    next = more.next;
  };
  if (value === 0) return small;
  if (wordAt(tokens, next) === 'thousand') {
    isLarge = true;
    value *= 1000;
    next++;
    const more = smallAt(tokens, next);
    if (more !== undefined && wordAt(tokens, more.next) === 'hundred') {
      value += Number(more.digits) * 100;
      next = more.next + 1;
    }
    rest(value);
  } else if (wordAt(tokens, next) === 'hundred') {
    isLarge = true;
    value *= 100;
    next++;
    rest(value);
  }
  if (isLarge) digits = String(value);
  return { digits, next };
}

const wordAt = (tokens: readonly Token[], at: number): string | undefined => {
  const token = tokens[at];
  return token?.kind === 'word' ? token.text : undefined;
};

function digitAt(tokens: readonly Token[], at: number): string | undefined {
  const token = tokens[at];
  if (token?.kind === 'digits') return token.text.length === 1 ? token.text : undefined;
  if (token?.kind !== 'word') return undefined;
  return own(UNITS, token.text) ?? (ZERO_BETWEEN.includes(token.text) ? '0' : undefined);
}

const isSpokenDigit = (tokens: readonly Token[], at: number): boolean =>
  tokens[at]?.kind === 'word' && digitAt(tokens, at) !== undefined;

/** Whether the tokens from `from` on, up to that one, are but what may be between the parts of a number. */
function isBetween(tokens: readonly Token[], from: number, to: number): boolean {
  if (to - from > BETWEEN_MAX) return false;
  for (let at = from; at < to; at++)
    if (!isSeparator(tokens[at] as Token) && !isBetweenGroups(tokens, at)) return false;
  return true;
}

/** "4111:1111". */
const isBetweenGroups = (tokens: readonly Token[], at: number): boolean =>
  GROUP_SEPARATORS.has((tokens[at] as Token).text) && isGroup(tokens[at - 1]) && isGroup(tokens[at + 1]);

const isGroup = (token: Token | undefined): boolean =>
  token?.kind === 'digits' && token.text.length >= GROUP_DIGITS_MIN;

export function runsOf(tokens: readonly Token[], items: readonly NumberItem[]): Run[] {
  const runs: Run[] = [];
  for (const item of items) {
    const run = runs.at(-1);
    const last = run?.items.at(-1);
    const next = last === undefined ? 0 : last.last + 1;
    const and = run !== undefined && run.digits >= AND_DIGITS_MIN && wordAt(tokens, next) === 'and' ? 1 : 0;
    if (run !== undefined && last !== undefined && isBetween(tokens, next + and, item.first)) {
      run.items.push(item);
      run.digits += item.digits.length;
    } else runs.push({ items: [item], digits: item.digits.length });
  }
  return runs;
}
