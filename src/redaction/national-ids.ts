// Numbers of national registers. By their own form and check digits where these are enough: the US social security number in its
// printed groups, the British national insurance number, the French, Spanish, Italian and Brazilian ones. Any number of 8 to 15 digits
// behind the words for one.
import { cueBefore } from './cues.ts';
import { type Match, matchOf, type Reading } from './match.ts';
import type { NumberItem, Run } from './numbers.ts';
import type { Token } from './tokens.ts';

const CUED_DIGITS = { min: 8, max: 15 } as const;

export function findNationalIds(reading: Reading): Match[] {
  return [...reading.runs.flatMap((run) => idsOfRun(run, reading)), ...findLettered(reading)];
}

function idsOfRun(run: Run, { tokens }: Reading): Match[] {
  const { items, digits } = run;
  const [first, last] = [items[0] as NumberItem, items.at(-1) as NumberItem];
  if (digits < CUED_DIGITS.min) return [];
  if (digits <= CUED_DIGITS.max && cueBefore(tokens, first.first) === 'national_id')
    return [matchOf('national_id', first, last)];
  const found: Match[] = [];
  for (let start = 0; start < items.length; start++) {
    const count = isSsn(items, start, tokens) ? 3 : isCpf(items, start, tokens) ? 4 : 0;
    if (count === 0) continue;
    found.push(matchOf('national_id', items[start] as NumberItem, items[start + count - 1] as NumberItem));
    start += count - 1;
  }
  if (found.length === 0 && digits === 15 && isNir(items.map((item) => item.digits).join('')))
    found.push(matchOf('national_id', first, last));
  return found;
}

/** Whether items are printed in groups of these lengths, with those marks and nothing else between them. */
function isPrinted(
  items: readonly NumberItem[],
  start: number,
  lengths: readonly number[],
  marks: readonly string[],
  tokens: readonly Token[],
): boolean {
  return lengths.every((length, index) => {
    const item = items[start + index];
    if (item === undefined || item.isSpoken || item.digits.length !== length) return false;
    if (index === 0) return true;
    const mark = marks[index - 1] as string;
    const between = tokens[item.first - 1] as Token;
    return (items[start + index - 1] as NumberItem).last === item.first - 2 && between.text === mark;
  });
}

/** Of the USA: 123-45-6789. */
function isSsn(items: readonly NumberItem[], start: number, tokens: readonly Token[]): boolean {
  if (!isPrinted(items, start, [3, 2, 4], ['-', '-'], tokens)) return false;
  const [area, group, serial] = items.slice(start, start + 3).map((item) => item.digits);
  return area !== '000' && area !== '666' && group !== '00' && serial !== '0000';
}

/** Of Brazil: 123.456.789-09. */
const isCpf = (items: readonly NumberItem[], start: number, tokens: readonly Token[]): boolean =>
  isPrinted(items, start, [3, 3, 3, 2], ['.', '.', '-'], tokens);

/** Of France: thirteen digits and the rest of a division by 97. */
function isNir(digits: string): boolean {
  if (!/^[1278]/.test(digits)) return false;
  const month = Number(digits.slice(3, 5));
  const isMonth = (month >= 1 && month <= 12) || (month >= 20 && month <= 42) || month >= 50;
  return isMonth && Number(digits.slice(13)) === 97 - Number(BigInt(digits.slice(0, 13)) % 97n);
}

const NOT_FIRST = 'dfiquv';
const NOT_SECOND = 'dfioquv';
const NOT_TOGETHER = ['bg', 'gb', 'nk', 'kn', 'tn', 'nt', 'zz'];
const DNI_LETTERS = 'trwagmyfpdxbnjzsqvhlcke';

/** Those with letters. */
function findLettered({ tokens, itemAt }: Reading): Match[] {
  const found: Match[] = [];
  for (const item of itemAt.values()) {
    if (item.digits.length > 8) continue;
    const match = insuranceNumber(tokens, item, itemAt) ?? dni(tokens, item) ?? codiceFiscale(tokens, item);
    if (match !== undefined) found.push(match);
  }
  return found;
}

/** Of Britain: AB 12 34 56 C. */
function insuranceNumber(
  tokens: readonly Token[],
  item: NumberItem,
  itemAt: ReadonlyMap<number, NumberItem>,
): Match | undefined {
  const prefix = lettersBefore(tokens, item.first, 2);
  if (prefix === undefined) return undefined;
  const [first = '', second = ''] = prefix.letters;
  const isIssued = !NOT_FIRST.includes(first) && !NOT_SECOND.includes(second) && !NOT_TOGETHER.includes(first + second);
  // Misheard letters are no reason to show the rest.
  const isCued = cueBefore(tokens, item.first - 1) === 'national_id';
  if (!isIssued && !isCued) return undefined;
  let { digits, last } = item;
  for (let next = itemAt.get(last + 1); digits.length < 6 && next !== undefined; next = itemAt.get(last + 1)) {
    digits += next.digits;
    last = next.last;
  }
  const suffix = tokens[last + 1];
  if (digits.length !== 6 || suffix?.kind !== 'word' || !(isCued ? /^[a-z]$/ : /^[abcd]$/).test(suffix.text))
    return undefined;
  // "in 123456 a" is a number in a sentence: spelt letters and digits with nothing between them are not.
  const isTight = !(tokens[item.first] as Token).isSpaced || digits.length > item.digits.length;
  return isTight || isCued ? matchOf('national_id', prefix.token, suffix) : undefined;
}

function lettersBefore(
  tokens: readonly Token[],
  at: number,
  count: number,
): { letters: string; token: Token } | undefined {
  const before = tokens[at - 1];
  if (before?.kind !== 'word') return undefined;
  if (before.text.length === count)
    return /^[a-z]+$/.test(before.text) ? { letters: before.text, token: before } : undefined;
  const first = tokens[at - 2];
  if (before.text.length !== 1 || first?.kind !== 'word' || first.text.length !== 1) return undefined;
  return { letters: first.text + before.text, token: first };
}

/** Of Spain: 12345678Z and X1234567L. */
function dni(tokens: readonly Token[], item: NumberItem): Match | undefined {
  const suffix = tokens[item.last + 1];
  if (item.isSpoken || suffix?.kind !== 'word' || suffix.text.length !== 1) return undefined;
  const gap = tokens[item.last + 1]?.isSpaced === true;
  const before = tokens[item.first - 1];
  const foreign =
    item.digits.length === 7 && before?.kind === 'word' && !(tokens[item.first] as Token).isSpaced
      ? 'xyz'.indexOf(before.text)
      : -1;
  const digits =
    item.digits.length === 8
      ? item.digits
      : foreign >= 0 && before?.text.length === 1
        ? `${foreign}${item.digits}`
        : '';
  if (digits === '' || gap || DNI_LETTERS[Number(digits) % 23] !== suffix.text) return undefined;
  return matchOf('national_id', item.digits.length === 8 ? item : (before as Token), suffix);
}

/** Of Italy: RSSMRA85T10A562S. */
function codiceFiscale(tokens: readonly Token[], item: NumberItem): Match | undefined {
  const at = item.first;
  const parts = [at - 1, at, at + 1, at + 2, at + 3, at + 4, at + 5].map((index) => tokens[index]);
  if (parts.some((part, index) => part === undefined || part.kind === 'symbol' || (index > 0 && part.isSpaced)))
    return undefined;
  const form = parts.map((part) => (part?.kind === 'word' ? 'L' : 'D') + part?.text.length).join('');
  return form === 'L6D2L1D2L1D3L1' ? matchOf('national_id', parts[0] as Token, parts[6] as Token) : undefined;
}
