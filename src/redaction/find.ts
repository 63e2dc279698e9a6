// What of a text is to be redacted, and from where on its end could still become that: pure, synchronous, and linear in the length of
// the text, whatever it says.
import type { RedactionClass } from '../api/redaction.ts';
import { findCardDetails, isCardDetail } from './card-details.ts';
import { findCards } from './cards.ts';
import { cueBefore } from './cues.ts';
import { findDates, openDate } from './dates.ts';
import { findEmails, openEmail } from './emails.ts';
import { findIbans, ibanAt } from './ibans.ts';
import type { Match, Reading } from './match.ts';
import { findNationalIds } from './national-ids.ts';
import { isSeparator, numbersOf, runsOf } from './numbers.ts';
import { findPhones } from './phones.ts';
import { type Token, tokensOf } from './tokens.ts';

/** Characters of one text: of a recording of a week. A longer one is redacted as a whole. */
export const TEXT_CHARS_MAX = 4_000_000;

/**
 * How much of the end of a text is open. `shown`: everything that could become a match, since it is shown a moment later anyway.
 * `settled`: what is likely to, since the whole text waits for it.
 */
export type Caution = 'shown' | 'settled';

export interface Found {
  /** In their order, none over another. */
  matches: Match[];
  /** From there on the text could become a match when it continues; undefined where it could not. */
  openFrom: number | undefined;
}

/** Earlier ones win where two are found in one place. */
const FINDERS: readonly (readonly [RedactionClass, (reading: Reading) => Match[]])[] = [
  ['email', findEmails],
  ['iban', findIbans],
  ['card', findCards],
  ['card', findCardDetails],
  ['date_of_birth', findDates],
  ['national_id', findNationalIds],
  ['phone', findPhones],
];

/** Classes that are made of digits. */
const NUMERIC: readonly RedactionClass[] = ['card', 'iban', 'phone', 'national_id'];

/**
 * @param known what else is to be redacted, as a service has found it
 * @throws RangeError for a text that is longer than any transcript
 */
export function find(
  text: string,
  classes: ReadonlySet<RedactionClass>,
  caution: Caution = 'settled',
  known: readonly Match[] = [],
): Found {
  if (text.length > TEXT_CHARS_MAX) throw new RangeError('The text is longer than the redactor accepts.');
  const reading = readingOf(text);
  const matches: Match[] = [];
  for (const [kind, finder] of FINDERS) {
    if (classes.has(kind)) matches.push(...finder(reading));
  }
  matches.push(...known);
  const distinct = withoutOverlaps(matches);
  return { matches: distinct, openFrom: openFrom(reading, classes, distinct, caution) };
}

function readingOf(text: string): Reading {
  const tokens = tokensOf(text);
  const items = numbersOf(tokens);
  return { text, tokens, items, itemAt: new Map(items.map((item) => [item.first, item])), runs: runsOf(tokens, items) };
}

/** Of those in one place the first; what else is under one is covered by it. */
function withoutOverlaps(matches: readonly Match[]): Match[] {
  const order = matches.map((match, rank) => ({ match, rank }));
  order.sort((one, other) => one.match.from - other.match.from || one.rank - other.rank);
  const kept: { match: Match; rank: number }[] = [];
  for (const next of order) {
    const last = kept.at(-1);
    if (last === undefined || next.match.from >= last.match.to)
      kept.push({ match: { ...next.match }, rank: next.rank });
    else {
      // Both are redacted: under the name of the more certain one.
      if (next.rank < last.rank) {
        last.match.class = next.match.class;
        last.rank = next.rank;
      }
      last.match.to = Math.max(last.match.to, next.match.to);
    }
  }
  return kept.map(({ match }) => match);
}

function openFrom(
  reading: Reading,
  classes: ReadonlySet<RedactionClass>,
  matches: readonly Match[],
  caution: Caution,
): number | undefined {
  const { tokens } = reading;
  // What is redacted already is not open: its continuation is found with it.
  const behind = matches.at(-1)?.to ?? 0;
  const openings = [
    NUMERIC.some((kind) => classes.has(kind)) ? openNumber(reading, classes, behind, caution) : undefined,
    classes.has('email') ? openEmail(reading, caution === 'settled', behind) : undefined,
    classes.has('date_of_birth') ? openDate(reading) : undefined,
  ];
  const open = openings
    .filter((index) => index !== undefined)
    .map((index) => (tokens[index] as Token).from)
    .filter((from) => from >= behind);
  return open.length === 0 ? undefined : Math.min(...open);
}

/** Digits that a number may have and still become a match. */
const OPEN_DIGITS_MAX = 40;
/** Digits from which a number at the end is likely to continue. */
const LIKELY_DIGITS_MIN = 4;
/** The same behind a word that tells what it is. */
const CUED_DIGITS_MIN = 2;
const YEAR = /^(19|20)\d\d$/;

/** The first token of the number that the text ends in. */
function openNumber(
  reading: Reading,
  classes: ReadonlySet<RedactionClass>,
  behind: number,
  caution: Caution,
): number | undefined {
  const iban = classes.has('iban') ? openIban(reading) : undefined;
  if (iban !== undefined) return iban;
  const { tokens, runs } = reading;
  const run = runs.at(-1);
  const lastItem = run?.items.at(-1);
  if (run === undefined || lastItem === undefined || !isTail(tokens, lastItem.last + 1)) return undefined;
  const items = run.items.filter((item) => item.from >= behind);
  const [first] = items;
  if (first === undefined) return undefined;
  const digits = items.map((item) => item.digits).join('');
  if (caution === 'settled') {
    if (digits.length > OPEN_DIGITS_MAX) return undefined;
    const cue = cueBefore(tokens, first.first);
    const isNamed = cue !== undefined && cue !== 'other' && digits.length >= CUED_DIGITS_MIN;
    const isMeant = isNamed || (classes.has('card') && digits.length < 3 && isCardDetail(tokens, first.first));
    if (!isMeant && (cue === 'other' || digits.length < LIKELY_DIGITS_MIN || YEAR.test(digits))) return undefined;
  }
  const plus = tokens[first.first - 1];
  return plus?.text === '+' || plus?.text === 'plus' || plus?.text === '(' ? first.first - 1 : first.first;
}

/** Nothing but marks and fillers. */
function isTail(tokens: readonly Token[], from: number): boolean {
  for (let at = from; at < tokens.length; at++) if (!isSeparator(tokens[at] as Token)) return false;
  return true;
}

const IBAN_TOKENS = 80;

/** "it is 4111": many countries are words as well. */
function isCountry({ text, tokens }: Reading, at: number): boolean {
  const { from, to } = tokens[at] as Token;
  const name = text.slice(from, to);
  return (
    name.length === 1 ||
    name === name.toUpperCase() ||
    tokens[at + 1]?.isSpaced === false ||
    cueBefore(tokens, at) === 'iban'
  );
}

function openIban(reading: Reading): number | undefined {
  const { tokens } = reading;
  for (let at = Math.max(0, tokens.length - IBAN_TOKENS); at < tokens.length; at++) {
    const begun = ibanAt(reading, at);
    if (begun !== undefined && begun.last === undefined && isCountry(reading, at)) return at;
  }
  return undefined;
}
