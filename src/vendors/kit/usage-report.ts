// What a provider's own report says of an account: read out of a file that the operator exported, or asked of the provider. Pure: whoever
// runs it sends the requests.
import type { ProviderAccess } from './credentials.ts';
import { type JsonObject, numberIn } from './json.ts';

/** What was billed for some days, by UTC. Seconds or an amount, or both. */
export interface ReportedUsage {
  /** `YYYY-MM-DD`, both included. */
  from: string;
  to: string;
  /** As the provider calls it; null for all of its models together. */
  model: string | null;
  seconds?: number;
  microUsd?: bigint;
  requests?: number;
}

/** A report that cannot be compared, in one sentence for the operator. */
export class UsageReportError extends Error {
  override readonly name = 'UsageReportError';
}

/** Sends one `GET` and gives the JSON of its answer. */
export type GetReport = (url: string, headers: Record<string, string>) => Promise<JsonObject>;

export interface UsageReports {
  /** Undefined of what is no such report. Throws a UsageReportError for one that cannot be compared. */
  read(report: JsonObject): ReportedUsage[] | undefined;
  /** Asks the provider for some days, both included. Absent where it has no interface for that. */
  ask?(access: ProviderAccess, from: string, to: string, get: GetReport): Promise<ReportedUsage[]>;
  /** Where the operator finds what `read` takes, and which key `ask` needs. */
  source: string;
}

/** Pages of one answer, so that one that never ends does not hang the command. */
export const REPORT_PAGES_MAX = 200;

const DAY_MS = 86_400_000;
const DAY_LENGTH = 'YYYY-MM-DD'.length;
const MICRO_USD = 1_000_000;
const USD_MAX = 1_000_000_000;
const SECONDS_MAX = 10 ** 11;
const DECIMAL = /^-?\d{1,10}(?:\.\d{1,30})?$/;
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))?$/;

/** The day of a time, by UTC. Undefined for a time without its zone, and for what is no time. */
export function dayOf(text: string): string | undefined {
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  const day = Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, DAY_LENGTH);
  // 30 February would be read as a day in March.
  return text.length === DAY_LENGTH && day !== text ? undefined : day;
}

/** The days that a stretch of time covers, by UTC: the end is not included, unless it is the beginning. */
export function daysBetween(fromMs: number, toMs: number): Pick<ReportedUsage, 'from' | 'to'> {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, DAY_LENGTH);
  return { from: day(fromMs), to: day(Math.max(fromMs, toMs - 1)) };
}

export const dayMs = (day: string): number => Date.parse(`${day}T00:00:00.000Z`);
export const dayAfter = (day: string): string => new Date(dayMs(day) + DAY_MS).toISOString().slice(0, DAY_LENGTH);

/** Throws for an amount in another currency. */
export function microUsdOfReport(value: unknown, currency: unknown): bigint {
  if (typeof currency !== 'string' || currency.toLowerCase() !== 'usd')
    throw new UsageReportError(`The report has amounts in ${shown(currency)}. Export it in USD.`);
  return usdIn(value);
}

/** Also a credit, below zero. Some reports write numbers as texts. */
export function usdIn(value: unknown): bigint {
  const amount = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value;
  if (typeof amount !== 'number' || !(Math.abs(amount) <= USD_MAX))
    throw new UsageReportError(`The report has the amount ${shown(value)}; it must be a number of USD.`);
  return BigInt(Math.round(amount * MICRO_USD));
}

export function secondsOfReport(value: unknown, unitSeconds = 1): number {
  const count = numberIn(value);
  if (count === undefined || count < 0 || count * unitSeconds > SECONDS_MAX)
    throw new UsageReportError(`The report has the duration ${shown(value)}; it must be a number from 0 up.`);
  return count * unitSeconds;
}

/** A short form of what a report has, without what could move a terminal. */
export const shown = (value: unknown): string =>
  (JSON.stringify(value) ?? 'nothing').replace(/[^ -~]/g, '?').slice(0, 60);
