// Telephone numbers: with a plus or two zeros, in the groups of North America, with a leading zero in groups; and 7 to 15 digits
// behind a word such as "phone". A word such as "order" before a number makes it something else.
import { type Cue, cueBefore } from './cues.ts';
import { type Match, matchOf, type Reading } from './match.ts';
import type { NumberItem, Run } from './numbers.ts';
import type { Token } from './tokens.ts';

const DIGITS = { min: 7, max: 15 } as const;
/** With a plus. */
const INTERNATIONAL_MIN = 8;
/** With a leading zero. */
const NATIONAL = { min: 9, max: 12 } as const;
const MONEY = '$€£¥₹';

export function findPhones(reading: Reading): Match[] {
  return reading.runs.flatMap((run) => (run.digits < DIGITS.min ? [] : phonesIn(run, reading)));
}

function phonesIn(run: Run, { tokens }: Reading): Match[] {
  const { items } = run;
  const first = items[0] as NumberItem;
  const plus = plusBefore(tokens, first.first);
  // No country has a code that begins with zero.
  if (plus !== undefined && !first.digits.startsWith('0')) {
    const end = endWithin(items, DIGITS.max);
    return end === undefined ? [] : [matchOf('phone', plus, end)];
  }
  const before = tokens[first.first - 1];
  if (before?.kind === 'symbol' && (MONEY.includes(before.text) || before.text === '#')) return [];
  const cue = cueBefore(tokens, first.first);
  if (cue !== undefined && cue !== 'phone') return [];
  if (isDate(items, tokens) || isAddressOfMachine(items, tokens)) return [];
  if (cue === 'phone' && run.digits <= DIGITS.max)
    return [matchOf('phone', withBracket(tokens, first), items.at(-1) as NumberItem)];
  return isPhone(run, cue)
    ? [matchOf('phone', withBracket(tokens, first), items.at(-1) as NumberItem)]
    : grouped(items, tokens);
}

function isPhone({ items, digits }: Run, cue: Cue | undefined): boolean {
  const text = items.map((item) => item.digits).join('');
  const isSpoken = items.every((item) => item.isSpoken) && !isCounting(items);
  if (isSpoken && (digits === 10 || digits === 11)) return isNorthAmerican(text);
  if (text.startsWith('00') && digits >= INTERNATIONAL_MIN + 2 && digits <= DIGITS.max + 2) return true;
  if (!text.startsWith('0') || text.startsWith('00') || items[0]?.digits === '0') return false;
  const isInGroups = items.length > 1;
  return (isInGroups || cue === 'phone') && digits >= NATIONAL.min && digits <= NATIONAL.max;
}

/** 415-555-2671, wherever it is in a run, with its country before it. */
function grouped(items: readonly NumberItem[], tokens: readonly Token[]): Match[] {
  const found: Match[] = [];
  for (let start = 0; start + 2 < items.length; start++) {
    const [area, exchange, line] = items.slice(start, start + 3) as [NumberItem, NumberItem, NumberItem];
    const lengths = [area, exchange, line].map((item) => (item.isSpoken ? 0 : item.digits.length)).join('-');
    if (lengths !== '3-3-4' || !isNorthAmerican(area.digits + exchange.digits + line.digits)) continue;
    const country = items[start - 1];
    const first = country?.digits === '1' ? country : withBracket(tokens, area);
    found.push(matchOf('phone', first, line));
    start += 2;
  }
  return found;
}

/** One, two, three … */
const isCounting = (items: readonly NumberItem[]): boolean =>
  items.every((item, index) => Number(item.digits) === Number(items[0]?.digits) + index);

const isNorthAmerican = (digits: string): boolean => /^1?[2-9]\d\d[2-9]\d{6}$/.test(digits);

/** "+" or the word. */
function plusBefore(tokens: readonly Token[], at: number): Token | undefined {
  const bracket = tokens[at - 1]?.text === '(' ? 1 : 0;
  const before = tokens[at - 1 - bracket];
  if (before?.kind === 'symbol' && before.text === '+') return before;
  if (before?.kind !== 'word' || before.text !== 'plus') return undefined;
  // A sum has a number before its plus.
  const term = tokens[at - 2 - bracket];
  return term?.kind === 'digits' ? undefined : before;
}

const withBracket = (tokens: readonly Token[], item: NumberItem): { from: number } => {
  const before = tokens[item.first - 1];
  return before?.text === '(' ? before : item;
};

/** The last item up to which there are no more digits than that. */
function endWithin(items: readonly NumberItem[], max: number): NumberItem | undefined {
  let digits = 0;
  let end: NumberItem | undefined;
  for (const item of items) {
    digits += item.digits.length;
    if (digits > max) break;
    if (digits >= INTERNATIONAL_MIN) end = item;
  }
  return end;
}

/** 12/05/2024 and 2024-05-12, perhaps with a time. */
function isDate(items: readonly NumberItem[], tokens: readonly Token[]): boolean {
  const [first, second, third] = items;
  if (first === undefined || second === undefined || third === undefined) return false;
  const mark = tokens[first.last + 1]?.text ?? '';
  if (!'/-.'.includes(mark) || mark !== tokens[second.last + 1]?.text) return false;
  const lengths = [first, second, third].map((item) => item.digits.length);
  const isYear = (item: NumberItem): boolean => /^(19|20)\d\d$/.test(item.digits);
  return (
    (lengths[0] === 4 && isYear(first) && (lengths[1] as number) <= 2 && (lengths[2] as number) <= 2) ||
    (lengths[2] === 4 && isYear(third) && (lengths[0] as number) <= 2 && (lengths[1] as number) <= 2)
  );
}

/** 192.168.100.200: four numbers up to 255 with dots between them. */
function isAddressOfMachine(items: readonly NumberItem[], tokens: readonly Token[]): boolean {
  return (
    items.length === 4 &&
    items.every((item) => !item.isSpoken && Number(item.digits) <= 255) &&
    items.slice(0, 3).every((item) => tokens[item.last + 1]?.text === '.' && tokens[item.last + 2]?.isSpaced === false)
  );
}
