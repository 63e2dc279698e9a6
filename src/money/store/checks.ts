// What the ledger takes: refuses, with a sentence, numbers and texts that could not be kept or computed exactly.

import { CONFIGURATIONS_MAX, FALLBACKS_MAX } from '../../api/bounds.ts';
import { StoreError } from '../../store/store-error.ts';
import type {
  Credit,
  FileCharge,
  HoldRequest,
  Redactions,
  SentAgain,
  SessionEnd,
  SessionHead,
  UsageLine,
} from './calls.ts';

/** 1 000 000 000 USD. */
const AMOUNT_MAX = 10n ** 15n;
/** 1 000 000 USD a minute: with the longest audio below, price × milliseconds / 60 000 stays within 64 bits. */
const PRICE_MAX = 10n ** 12n;
/** 115 days. */
const AUDIO_MS_MAX = 10 ** 10;
const LEASE_MS_MAX = 86_400_000;
/** A session that is changed as often as it may be, each time to as many models as there may be, can have them all on its bill. */
export const LINES_MAX = (CONFIGURATIONS_MAX + 1) * (FALLBACKS_MAX + 2);
const YEAR_LENGTH = 4;
const ID_LENGTH_MAX = 100;
const MODEL_LENGTH_MAX = 200;
const WORD_LENGTH_MAX = 100;
const NOTE_LENGTH_MAX = 500;

function invalid(sentence: string): never {
  throw new StoreError('invalid', sentence);
}

/** Without its zone, a time would depend on the time zone of the machine. */
const WITH_ZONE = /^[+-]?\d{4,6}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** ISO 8601 UTC with milliseconds, so that times compare as texts. */
export function isoOf(text: string, name: string): string {
  const date = new Date(WITH_ZONE.test(text) ? text : Number.NaN);
  if (Number.isNaN(date.getTime()))
    invalid(`The ${name} is not an ISO 8601 time with its zone, such as 2026-11-28T12:00:00Z.`);
  const iso = date.toISOString();
  // Years beyond four digits are written with a sign and would not sort.
  if (iso.indexOf('-') !== YEAR_LENGTH) invalid(`The ${name} is not in the years 0 to 9999.`);
  return iso;
}

function requireText(text: string, lengthMax: number, name: string): void {
  if (text.length === 0 || text.length > lengthMax) invalid(`The ${name} has 1 to ${lengthMax} characters.`);
}

function requireAmount(microUsd: bigint, max: bigint, name: string): void {
  if (microUsd < 0n || microUsd > max) invalid(`The ${name} is 0 to ${max} micro-USD.`);
}

function requireAudio(audioMs: number): void {
  if (!Number.isInteger(audioMs) || audioMs < 0 || audioMs > AUDIO_MS_MAX) {
    invalid(`Audio and connections are counted in whole milliseconds, 0 to ${AUDIO_MS_MAX}.`);
  }
}

export function requireHead(head: SessionHead): void {
  requireText(head.id, ID_LENGTH_MAX, 'id of a session');
  requireText(head.keyId, ID_LENGTH_MAX, 'id of a key');
  requireText(head.model, MODEL_LENGTH_MAX, 'model');
  if (head.mode !== 'batch' && head.mode !== 'live') invalid('The mode of a session is batch or live.');
}

export function requireHoldRequest(request: HoldRequest): void {
  const { wantedMicroUsd, leastMicroUsd, leaseMs, minuteMicroUsd, keptMicroUsdMax } = request;
  if (keptMicroUsdMax !== undefined) requireAmount(keptMicroUsdMax, AMOUNT_MAX, 'amount that is kept of a hold');
  if (minuteMicroUsd !== undefined) requireAmount(minuteMicroUsd, PRICE_MAX, 'price of a minute');
  requireAmount(wantedMicroUsd, AMOUNT_MAX, 'amount of a hold');
  requireAmount(leastMicroUsd, AMOUNT_MAX, 'least amount of a hold');
  if (!Number.isInteger(leaseMs) || leaseMs < 1 || leaseMs > LEASE_MS_MAX) {
    invalid(`A lease is 1 to ${LEASE_MS_MAX} whole milliseconds.`);
  }
}

export function requireLines(lines: readonly UsageLine[]): void {
  if (lines.length > LINES_MAX) invalid(`A session has at most ${LINES_MAX} lines.`);
  const seen = new Set<string>();
  for (const { model, own, rate = 0, audioMs, connectionMs = 0, price, counted } of lines) {
    if (counted !== undefined && (!own || counted !== true))
      invalid('A line counts under ceilings without a charge where it is of an own provider key.');
    requireText(model, MODEL_LENGTH_MAX, 'model of a line');
    if (!Number.isInteger(rate) || rate < 0 || rate >= LINES_MAX) invalid(`A rate is 0 to ${LINES_MAX - 1}.`);
    requireAudio(audioMs);
    requireAudio(connectionMs);
    requireAmount(price.microUsd, PRICE_MAX, 'price of a line');
    requireAmount(price.minimumMicroUsd, PRICE_MAX, 'minimum charge of a line');
    if (price.unit !== 'minute' && price.unit !== 'session') invalid('A price is per minute or per session.');
    const name = `${own}:${rate}:${model}`;
    if (seen.has(name))
      invalid(`There are two lines of ${JSON.stringify(model)} at one price; their audio belongs in one.`);
    seen.add(name);
  }
}

/** Of more channels there is no file. */
const CHANNELS_MAX = 65_535;

function requireFile({ audioMs, channels, audioMsMax, claimedMs }: FileCharge): void {
  requireAudio(audioMs);
  requireAudio(audioMsMax);
  if (!Number.isInteger(channels) || channels < 1 || channels > CHANNELS_MAX) {
    invalid(`A file has 1 to ${CHANNELS_MAX} channels.`);
  }
  if (claimedMs !== undefined && !(Number.isSafeInteger(claimedMs) && claimedMs > audioMsMax)) {
    invalid('What a provider claims of a file is told where it is more than the file can hold.');
  }
}

export const SENT_AGAIN_REASONS = [
  'replayed',
  'failed',
  'attempt',
  'standby',
  'probe',
] as const satisfies SentAgain['reason'][];
/** A model may be there with each of them. */
export const SENT_AGAIN_MAX = SENT_AGAIN_REASONS.length * LINES_MAX;

function requireSentAgain(sent: readonly SentAgain[]): void {
  if (sent.length > SENT_AGAIN_MAX)
    invalid(`A session says at most ${SENT_AGAIN_MAX} times what models were sent again or in vain.`);
  for (const { model, reason, legs, audioMs, connectionMs = 0 } of sent) {
    requireText(model, MODEL_LENGTH_MAX, 'model of a leg');
    requireAudio(audioMs);
    requireAudio(connectionMs);
    if (!SENT_AGAIN_REASONS.includes(reason))
      invalid(`The reason of a leg is one of ${SENT_AGAIN_REASONS.join(', ')}.`);
    if (!Number.isInteger(legs) || legs < 1 || legs > AUDIO_MS_MAX) invalid('Legs are counted from 1 up.');
  }
}

/** More than there are, also in later versions. */
const CLASSES_MAX = 50;
const CLASS = /^[a-z][a-z_]{0,31}$/;

/** Counts of classes, also of those that this version does not know. */
export const areRedactions = (value: object): value is Redactions => {
  const counts = Object.entries(value);
  return (
    counts.length <= CLASSES_MAX &&
    counts.every(([name, count]) => CLASS.test(name) && Number.isSafeInteger(count) && count > 0)
  );
};

export function requireEnd({ reason, code, audioMs, lines, file, sentAgain, redactions }: SessionEnd): void {
  requireText(reason, WORD_LENGTH_MAX, 'reason of an end');
  if (code !== null) requireText(code, WORD_LENGTH_MAX, 'code of an end');
  requireAudio(audioMs);
  requireLines(lines);
  if (file !== undefined) requireFile(file);
  if (sentAgain !== undefined) requireSentAgain(sentAgain);
  if (redactions !== undefined && !areRedactions(redactions))
    invalid(`Redactions are counted from 1 up, of at most ${CLASSES_MAX} classes.`);
}

export function requireCredit({ kind, microUsd, uniqueKey, note }: Credit): void {
  if (!['welcome', 'top_up', 'adjustment'].includes(kind))
    invalid('The kind of a credit is welcome, top_up or adjustment.');
  const size = microUsd < 0n ? -microUsd : microUsd;
  if (size === 0n || size > AMOUNT_MAX) invalid(`A credit is 1 to ${AMOUNT_MAX} micro-USD.`);
  if (microUsd < 0n && kind !== 'adjustment') invalid('Only an adjustment may be below zero.');
  requireText(uniqueKey, MODEL_LENGTH_MAX, 'unique key of a credit');
  if (note.length > NOTE_LENGTH_MAX) invalid(`The note of a credit has at most ${NOTE_LENGTH_MAX} characters.`);
}
