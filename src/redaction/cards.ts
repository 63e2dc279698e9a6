// Payment cards: numbers with the prefix, the length and the check digit of a card network, however they are grouped or spoken; and
// any number of that length behind a word such as "card", since recognisers mishear digits.
import { DATE_AND_CODE_DIGITS_MAX, isDateAndCode } from './card-details.ts';
import { cueBefore } from './cues.ts';
import { type Match, matchOf, type Reading } from './match.ts';
import type { NumberItem, Run } from './numbers.ts';

export const CARD_DIGITS = { min: 12, max: 19 } as const;
/** Behind a word such as "card": with its expiry and its code at the most. */
const CUED_DIGITS = { min: 13, max: 26 } as const;

export function findCards(reading: Reading): Match[] {
  return reading.runs.flatMap((run) => (run.digits < CARD_DIGITS.min ? [] : cardsIn(run, reading)));
}

function cardsIn(run: Run, { tokens }: Reading): Match[] {
  const { items } = run;
  const isCued = cueBefore(tokens, (items[0] as NumberItem).first) === 'card';
  const found: Match[] = [];
  let begin = 0;
  for (let start = 0; start < items.length; start++) {
    const end = cardEnd(items, start, start === begin || isCued, isCued);
    if (end === undefined) continue;
    const date = isCued ? dateEnd(items, end + 1) : undefined;
    found.push(matchOf('card', items[start] as NumberItem, date ?? (items[end] as NumberItem)));
    if (date !== undefined) return found;
    begin = end + 1;
    start = end;
  }
  if (found.length > 0 || !isCued || run.digits < CUED_DIGITS.min || run.digits > CUED_DIGITS.max) return found;
  return [matchOf('card', items[0] as NumberItem, items.at(-1) as NumberItem)];
}

/** The last item, where all from there on are the card's date, perhaps with its code. Of many cards in a row, the rest is not read for each. */
function dateEnd(items: readonly NumberItem[], from: number): NumberItem | undefined {
  let digits = '';
  for (let at = from; at < items.length && digits.length <= DATE_AND_CODE_DIGITS_MAX; at++)
    digits += (items[at] as NumberItem).digits;
  return digits.length <= DATE_AND_CODE_DIGITS_MAX && isDateAndCode(digits) ? items.at(-1) : undefined;
}

/**
 * The last item of a card that begins there. Within a run that begins with something else, it is printed in groups, or ends the run. A
 * number of a usual length is preferred: of 16 digits, the first 13 may be a card as well.
 */
function cardEnd(items: readonly NumberItem[], start: number, isFree: boolean, isCued: boolean): number | undefined {
  let digits = '';
  let isGrouped = true;
  let unusual: number | undefined;
  for (let end = start; end < items.length; end++) {
    const item = items[end] as NumberItem;
    digits += item.digits;
    if (digits.length > CARD_DIGITS.max) break;
    isGrouped &&= !item.isSpoken && (item.digits.length >= 3 || end > start + 2);
    if (digits.length < CARD_DIGITS.min) continue;
    const isUsual = isCard(digits, false);
    if (!isUsual && !isCard(digits, isCued)) continue;
    if (!isFree && !isGrouped && (end < items.length - 1 || digits.length < 15)) continue;
    if (isUsual) return end;
    unusual = end;
  }
  return unusual;
}

interface Network {
  from: number;
  to: number;
  lengths: readonly number[];
  /** Lengths that are taken for a card only behind a word such as "card": other numbers are as long. */
  cued?: readonly number[];
}

/** By the first four digits. */
const NETWORKS: readonly Network[] = [
  { from: 4000, to: 4999, lengths: [16, 19], cued: [13] },
  { from: 5100, to: 5599, lengths: [16] },
  { from: 2221, to: 2720, lengths: [16] },
  { from: 3400, to: 3499, lengths: [15] },
  { from: 3700, to: 3799, lengths: [15] },
  { from: 6011, to: 6011, lengths: [16], cued: [19] },
  { from: 6440, to: 6599, lengths: [16], cued: [19] },
  { from: 3000, to: 3059, lengths: [14], cued: [16] },
  { from: 3600, to: 3699, lengths: [14], cued: [16] },
  { from: 3800, to: 3999, lengths: [14], cued: [16] },
  { from: 3500, to: 3599, lengths: [16], cued: [19] },
  { from: 6200, to: 6299, lengths: [16, 19], cued: [17, 18] },
  { from: 5000, to: 5099, lengths: [16], cued: [12, 13, 14, 15, 17, 18, 19] },
  { from: 5600, to: 5899, lengths: [16], cued: [12, 13, 14, 15, 17, 18, 19] },
  { from: 6300, to: 6399, lengths: [16], cued: [12, 13, 14, 15, 17, 18, 19] },
  { from: 6700, to: 6799, lengths: [16], cued: [12, 13, 14, 15, 17, 18, 19] },
  { from: 2200, to: 2204, lengths: [16], cued: [19] },
  { from: 6000, to: 6099, lengths: [16] },
  { from: 8100, to: 8199, lengths: [16] },
];

function isCard(digits: string, isCued: boolean): boolean {
  const prefix = Number(digits.slice(0, 4));
  const isKnown = NETWORKS.some(
    ({ from, to, lengths, cued = [] }) =>
      prefix >= from && prefix <= to && (lengths.includes(digits.length) || (isCued && cued.includes(digits.length))),
  );
  // Behind such a word, any number with the check digit is one: networks of single countries have prefixes of their own.
  return (isKnown || isCued) && passesLuhn(digits);
}

export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const digit = digits.charCodeAt(at) - 48;
    const doubled = digit * 2;
    sum += isDoubled ? (doubled > 9 ? doubled - 9 : doubled) : digit;
  }
  return sum % 10 === 0;
}
