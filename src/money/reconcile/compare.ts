// A provider's report compared with what the gateway sent it, by day and model. The difference is explained by what was sent in vain and by
// rounding; what is left is for the operator to ask about.
import type { Mode } from '../../api/models.ts';
import { costMicroUsd, type ExactPrice } from '../../config/prices/price.ts';
import { dayAfter, type ReportedUsage, UsageReportError } from '../../vendors/kit/usage-report.ts';
import type { LegUsageRow } from '../store/calls.ts';

/** A model of the provider, as the catalogue has it. */
export interface PricedModel {
  /** The part of the slug after the slash. */
  name: string;
  /** What the provider asks, without the operator's margin. */
  prices: Partial<Record<Mode, ExactPrice>>;
  /** The prices that are for the time of a connection. */
  metered: readonly Mode[];
}

/** What the gateway sent, in milliseconds. */
export interface OurUsage {
  legs: number;
  /** Charged to customers, also what was sent to another leg before. */
  chargedMs: number;
  /** Of that, sent before. */
  replayedMs: number;
  /** Sent and not charged: the leg failed, or gave no final. */
  failedMs: number;
  /** Sent at attempts at files that failed, and while connections were open ahead, where a price is for that: it may be billed. */
  possibleMs: number;
  /** Attempts at files that failed; connections that were opened ahead, and how long they were open without audio. */
  attempts: number;
  standbys: number;
  standbyMs: number;
  probes: number;
  probeMs: number;
  /** On customers' own accounts: on their bills. */
  ownMs: number;
  /** What was charged, at the provider's list price. */
  chargedMicroUsd: bigint;
  failedMicroUsd: bigint;
  possibleMicroUsd: bigint;
}

export interface ComparedRow {
  from: string;
  to: string;
  /** Null for all models together. */
  model: string | null;
  vendor: { seconds?: number; microUsd?: bigint; requests?: number };
  ours: OurUsage;
  /** The provider's figure less what was charged. */
  differenceSeconds?: number;
  differenceMicroUsd?: bigint;
  /** Of the difference in seconds: may be rounding of each leg. */
  roundingSeconds: number;
  /** Neither failed legs nor rounding. */
  unexplainedSeconds?: number;
  unexplainedMicroUsd?: bigint;
}

/** Providers round each leg up to a second, where the catalogue names no minimum. */
const ROUNDED_SECONDS = 1;
const DAYS_MAX = 400;

/** Throws a UsageReportError for reports that overlap. */
export function compare(
  reported: readonly ReportedUsage[],
  ours: readonly LegUsageRow[],
  models: readonly PricedModel[],
): ComparedRow[] {
  const vendor = summed(reported, models);
  const rows = [...vendor.values()].map((usage) => {
    const of = ours.filter(({ day, model }) => day >= usage.from && day <= usage.to && isOf(model, usage.model));
    return rowOf(usage, of, models);
  });
  return [...rows, ...unreported([...vendor.values()], ours, models)].sort(
    (one, other) => one.from.localeCompare(other.from) || (one.model ?? '').localeCompare(other.model ?? ''),
  );
}

const isOf = (slug: string, model: string | null): boolean => model === null || nameOf(slug) === model;
const nameOf = (slug: string): string => slug.slice(slug.indexOf('/') + 1);

/** Rows of one model and day together: reports have one for each project, key or tag. */
function summed(reported: readonly ReportedUsage[], models: readonly PricedModel[]): Map<string, ReportedUsage> {
  const sums = new Map<string, ReportedUsage>();
  for (const usage of reported) {
    const model = usage.model === null ? null : catalogued(usage.model, models);
    const name = `${usage.from} ${usage.to} ${model}`;
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, { ...usage, model });
    else {
      if (usage.seconds !== undefined) sum.seconds = (sum.seconds ?? 0) + usage.seconds;
      if (usage.microUsd !== undefined) sum.microUsd = (sum.microUsd ?? 0n) + usage.microUsd;
      if (usage.requests !== undefined) sum.requests = (sum.requests ?? 0) + usage.requests;
    }
  }
  return sums;
}

/** The name in the catalogue, of which the provider may use a longer form such as `nova-3-general`; its own name where there is none. */
function catalogued(reported: string, models: readonly PricedModel[]): string {
  const found = models
    .filter(({ name }) => reported === name || reported.startsWith(`${name}-`))
    .sort((one, other) => other.name.length - one.name.length)[0];
  return found?.name ?? reported;
}

/** What was sent to models, on days within the report, of which the provider says nothing. */
function unreported(
  vendor: readonly ReportedUsage[],
  ours: readonly LegUsageRow[],
  models: readonly PricedModel[],
): ComparedRow[] {
  const rest = new Map<string, LegUsageRow[]>();
  for (const row of ours) {
    if (vendor.some(({ from, to, model }) => row.day >= from && row.day <= to && isOf(row.model, model))) continue;
    const name = `${row.day} ${row.model}`;
    rest.set(name, [...(rest.get(name) ?? []), row]);
  }
  return [...rest.values()].map((rows) => {
    const [{ day, model }] = rows as [LegUsageRow];
    const measures = {
      ...(vendor.some(({ seconds }) => seconds !== undefined) && { seconds: 0 }),
      ...(vendor.some(({ microUsd }) => microUsd !== undefined) && { microUsd: 0n }),
    };
    return rowOf({ from: day, to: day, model: nameOf(model), ...measures }, rows, models);
  });
}

function rowOf(usage: ReportedUsage, of: readonly LegUsageRow[], models: readonly PricedModel[]): ComparedRow {
  const { from, to, model, seconds, microUsd, requests } = usage;
  const ours = ourUsage(of, models);
  const roundingSeconds = of.reduce((sum, row) => sum + (row.own ? 0 : row.legs * leastSeconds(row, models)), 0);
  const row: ComparedRow = { from, to, model, vendor: {}, ours, roundingSeconds };
  if (requests !== undefined) row.vendor.requests = requests;
  if (seconds !== undefined) {
    row.vendor.seconds = seconds;
    row.differenceSeconds = seconds - ours.chargedMs / 1000;
    const rest = row.differenceSeconds - ours.failedMs / 1000;
    row.unexplainedSeconds = beyond(rest - clamp(rest, ours.possibleMs / 1000), roundingSeconds);
  }
  if (microUsd !== undefined) {
    row.vendor.microUsd = microUsd;
    row.differenceMicroUsd = microUsd - ours.chargedMicroUsd;
    const more = row.differenceMicroUsd - ours.failedMicroUsd;
    const possible = ours.possibleMicroUsd;
    const rest = more - (more < 0n ? 0n : more < possible ? more : possible);
    const rounding = roundingMicroUsd(ours, roundingSeconds);
    row.unexplainedMicroUsd = rest > rounding ? rest - rounding : rest < -rounding ? rest + rounding : 0n;
  }
  return row;
}

/** As much of it as there may be. */
const clamp = (rest: number, most: number): number => Math.min(Math.max(rest, 0), most);

const beyond = (rest: number, bound: number): number => (Math.abs(rest) <= bound ? 0 : rest - Math.sign(rest) * bound);

/** What so much rounding costs at the average price, and a millionth for each leg. */
function roundingMicroUsd(
  { legs, chargedMs, failedMs, chargedMicroUsd, failedMicroUsd }: OurUsage,
  seconds: number,
): bigint {
  const ms = chargedMs + failedMs;
  const cost = chargedMicroUsd + failedMicroUsd;
  return BigInt(legs) + (ms === 0 ? 0n : (cost * BigInt(Math.ceil(seconds * 1000))) / BigInt(ms));
}

function ourUsage(rows: readonly LegUsageRow[], models: readonly PricedModel[]): OurUsage {
  const usage = {
    legs: 0,
    chargedMs: 0,
    replayedMs: 0,
    failedMs: 0,
    possibleMs: 0,
    ...{ attempts: 0, standbys: 0, standbyMs: 0, probes: 0, probeMs: 0 },
    ownMs: 0,
    chargedMicroUsd: 0n,
    failedMicroUsd: 0n,
    possibleMicroUsd: 0n,
  };
  for (const row of rows) {
    const ms = sentMs(row, models);
    if (row.own) {
      usage.ownMs += ms;
      continue;
    }
    const cost = costOf(row, ms, models);
    if (isPossible(row)) {
      usage.possibleMs += ms;
      usage.possibleMicroUsd += cost;
      if (row.reason === 'standby') {
        usage.standbys += row.legs;
        usage.standbyMs += row.connectionMs;
      } else if (row.reason === 'probe') {
        usage.probes += row.legs;
        usage.probeMs += row.connectionMs;
      } else usage.attempts += row.legs;
      continue;
    }
    if (row.reason !== 'replayed') usage.legs += row.legs;
    if (row.reason === 'failed') {
      usage.failedMs += ms;
      usage.failedMicroUsd += cost;
    } else {
      usage.chargedMs += ms;
      usage.chargedMicroUsd += cost;
      if (row.reason === 'replayed') usage.replayedMs += ms;
    }
  }
  return usage;
}

/** A connection without audio. */
const isOpenedAhead = ({ reason }: LegUsageRow): boolean => reason === 'standby' || reason === 'probe';

/** Whether the provider may bill it, or not. */
const isPossible = (row: LegUsageRow): boolean => row.reason === 'attempt' || isOpenedAhead(row);

const modelOf = ({ model }: LegUsageRow, models: readonly PricedModel[]): PricedModel | undefined =>
  models.find(({ name }) => name === nameOf(model));

function sentMs(row: LegUsageRow, models: readonly PricedModel[]): number {
  const isMetered = modelOf(row, models)?.metered.includes(row.mode) ?? false;
  return isMetered ? Math.max(row.audioMs, row.connectionMs) : row.audioMs;
}

function costOf(row: LegUsageRow, ms: number, models: readonly PricedModel[]): bigint {
  const price = modelOf(row, models)?.prices[row.mode];
  if (price === undefined) return 0n;
  if (price.unit === 'session')
    return row.reason === 'replayed' || isOpenedAhead(row) ? 0n : price.microUsd * BigInt(row.legs);
  return costMicroUsd({ ...price, minimumMicroUsd: 0n }, ms);
}

/** What one leg is billed at least, in seconds. */
function leastSeconds(row: LegUsageRow, models: readonly PricedModel[]): number {
  const price = modelOf(row, models)?.prices[row.mode];
  if (row.reason === 'replayed' || isOpenedAhead(row)) return 0;
  if (price === undefined || price.unit === 'session' || price.microUsd === 0n) return ROUNDED_SECONDS;
  return Math.max(ROUNDED_SECONDS, (Number(price.minimumMicroUsd) / Number(price.microUsd)) * 60);
}

/** The days of a report. Throws for none, and for more than are kept. */
export function daysOf(reported: readonly ReportedUsage[]): { from: string; to: string } {
  const [first] = reported;
  if (first === undefined) throw new UsageReportError('The report has no usage.');
  let { from, to } = first;
  for (const usage of reported) {
    if (usage.from < from) from = usage.from;
    if (usage.to > to) to = usage.to;
  }
  let day = from;
  for (let count = 1; day < to; count++) {
    if (count >= DAYS_MAX)
      throw new UsageReportError(`The report covers ${from} to ${to}. Compare at most ${DAYS_MAX} days.`);
    day = dayAfter(day);
  }
  return { from, to };
}

/**
 * Throws where a day is reported twice: by two files, or by a day and a longer time. Seconds and amounts may be in different files, and one
 * file may have several rows of a day, one for each project or key.
 */
export function requireOnce(files: readonly { name: string; reported: readonly ReportedUsage[] }[]): void {
  for (const measure of ['seconds', 'microUsd'] as const) {
    const seen = new Map<string, { name: string; period: string }>();
    for (const { name, reported } of files)
      for (const { from, to, ...usage } of reported) {
        if (usage[measure] === undefined) continue;
        const period = `${from} to ${to}`;
        let day = from;
        for (let count = 0; count < DAYS_MAX && day <= to; count++) {
          const before = seen.get(day);
          if (before !== undefined && (before.name !== name || before.period !== period))
            throw new UsageReportError(`${day} is reported twice, by ${before.name} and ${name}. Pass each day once.`);
          seen.set(day, { name, period });
          day = dayAfter(day);
        }
      }
  }
}
