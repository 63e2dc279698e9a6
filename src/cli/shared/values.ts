// Arguments of commands as values: amounts, counts, times, durations, lists, regions, names and files; and values as text. A wrong one is one
// sentence that says what is accepted.

import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type NamedRegion, REGIONS } from '../../api/residency-rule.ts';
import { nearestSlugs } from '../../api/slug.ts';
import { ceilingIn, type SpendCeiling } from '../../api/spend-ceilings.ts';
import { microUsdOf, usdOf } from '../../config/prices/price.ts';
import { WrongInput } from './command.ts';
import { CommandError } from './output.ts';

/** Removes a limit. */
const NONE = 'none';

const DAY_MS = 24 * 3600 * 1000;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS };
const AMOUNT = /^\d{1,9}(\.\d{1,6})?$/;
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/;

/** The value of an option that was given, and null for `none`. */
export function orNone<Value>(text: string, read: (text: string) => Value): Value | null {
  return text === NONE ? null : read(text);
}

/** Micro-USD of a decimal amount that is not negative. */
export function usdValue(name: string, text: string): bigint {
  if (AMOUNT.test(text)) return microUsdOf(text);
  throw new WrongInput(`${name} is ${quoted(text)}; it is an amount in USD such as 12.50, with at most six decimals.`);
}

/** A ceiling on spend. */
export function ceilingValue(name: string, text: string): SpendCeiling {
  const ceiling = ceilingIn(text);
  if (ceiling !== undefined) return ceiling;
  throw new WrongInput(
    `${name} is ${quoted(text)}; it is an amount in USD and a period such as 100/day, deepgram:20.50/month or 100/day:only_up_to=0.005. Periods are hour, day and month.`,
  );
}

/** The same, negative too, but not zero. */
export function signedUsdValue(name: string, text: string): bigint {
  const [, sign, amount] = /^([+-]?)(.*)$/s.exec(text) as unknown as [string, string, string];
  const microUsd = AMOUNT.test(amount) ? microUsdOf(amount) : 0n;
  if (microUsd !== 0n) return sign === '-' ? -microUsd : microUsd;
  throw new WrongInput(
    `${name} is ${quoted(text)}; it is an amount in USD such as 12.50 or -3.00, with at most six decimals and not 0.`,
  );
}

/** A whole number within bounds, 0 to 2^53 - 1 when none are given. */
export function countValue(name: string, text: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= least && count <= most) return count;
  throw new WrongInput(`${name} is ${quoted(text)}; it is a whole number from ${least} to ${most}.`);
}

/** ISO 8601 UTC of a day (its first moment) or a time. */
export function timeValue(name: string, text: string): string {
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  // 30 February would be read as a day in March.
  if (!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.replace(/Z$/, ''))) {
    return new Date(ms).toISOString();
  }
  throw new WrongInput(
    `${name} is ${quoted(text)}; it is a day such as 2026-12-31 or a time by UTC such as 2026-12-31T18:00:00Z.`,
  );
}

/** Milliseconds of a duration such as `90s`, `30m`, `24h` or `3d`, or `0`. */
export function durationValue(name: string, text: string, mostMs: number): number {
  const [, count = '', unit = 's'] = /^(\d{1,6})([smhd])$|^0$/.exec(text) ?? ['', 'x'];
  const ms = text === '0' ? 0 : Number(count) * (UNIT_MS[unit] as number);
  if (ms <= mostMs) return ms;
  throw new WrongInput(
    `${name} is ${quoted(text)}; it is a duration such as 30m or 24h, at most ${mostMs / UNIT_MS.h!} hours.`,
  );
}

/** One of these words. */
export function choiceValue<const Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((each) => each === text);
  if (word !== undefined) return word;
  throw new WrongInput(`${name} is ${quoted(text)}; it is one of ${words.join(', ')}.`);
}

/** Values with commas between them, or given one by one, or both; each once. */
export function listValue(name: string, texts: readonly string[]): string[] {
  const values = texts.flatMap((text) => text.split(',')).map((text) => text.trim());
  if (!values.includes('')) return [...new Set(values)];
  throw new WrongInput(`${name} is ${quoted(texts.join(','))}; it is one value or more with commas between them.`);
}

/** As JSON for programs: `costMicroUsd: 5000n` becomes `"costUsd": "0.005"`. */
export function outwardJson(value: unknown, indent?: number): string {
  return JSON.stringify(outward(value), null, indent);
}

function outward(value: unknown): unknown {
  if (typeof value === 'bigint') return usdOf(value);
  if (Array.isArray(value)) return value.map(outward);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/^microUsd/, 'usd').replace('MicroUsd', 'Usd'),
      outward(member),
    ]),
  );
}

function quoted(text: string): string {
  const shown = JSON.stringify(text);
  return shown.length <= 60 ? shown : `${shown.slice(0, 60)}…`;
}

export const regionValue = (text: string): NamedRegion => choiceValue('--region', text, REGIONS);

/** `any` removes the rule, since `none` means here that nothing is kept. */
export function retentionValue(text: string): 'none' | null {
  if (text === 'none') return 'none';
  if (text === 'any') return null;
  throw new WrongInput('--retention is none, or any.');
}

/** Throws a CommandError unless there is such a file with content, and this user may read it. `what`: what it should be, `an audio file`. */
export function requireReadable(file: string, what: string): void {
  const state = statSync(file, { throwIfNoEntry: false });
  if (state === undefined) throw new CommandError(`there is no file ${file}.`);
  if (state.isDirectory()) throw new CommandError(`${file} is a folder. Name ${what}.`);
  if (state.isFile() && state.size === 0) throw new CommandError(`${file} is empty. Name ${what}.`);
  if (!may(file, constants.R_OK)) throw new CommandError(`this user may not read ${file}.`);
}

/** Throws a CommandError unless a file of this name can be written. */
export function requireWritable(file: string): void {
  const state = statSync(file, { throwIfNoEntry: false });
  if (state?.isDirectory()) throw new CommandError(`${file} is a folder. Name a file to write to.`);
  const folder = dirname(file);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CommandError(`there is no folder ${folder} to write ${file} to.`);
  if (!may(state === undefined ? folder : file, constants.W_OK))
    throw new CommandError(`this user may not write ${file}.`);
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** ` Did you mean deepgram?`; empty where nothing is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [nearest] = nearestSlugs(name, known, 1);
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}
