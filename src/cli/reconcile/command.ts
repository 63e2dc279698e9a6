// `voxgate reconcile PROVIDER …`: what a provider billed next to what the gateway sent it, by day and model, and why the two differ.
import { usdOf } from '../../config/prices/price.ts';
import { createPriceList } from '../../config/prices/price-list.ts';
import { type ComparedRow, compare, daysOf, type PricedModel, requireOnce } from '../../money/reconcile/compare.ts';
import { sentUsage } from '../../money/reconcile/sent-usage.ts';
import type { LegUsageRow } from '../../money/store/calls.ts';
import { StoreError } from '../../store/store-error.ts';
import type { Provider } from '../../vendors/kit/provider.ts';
import { type ReportedUsage, UsageReportError } from '../../vendors/kit/usage-report.ts';
import { type Command, explained, readArguments, WrongInput } from '../shared/command.ts';
import { withStore } from '../shared/operator.ts';
import { CommandError, EXIT, print, printTable, tell } from '../shared/output.ts';
import { loadProviders, loadSettings } from '../shared/settings.ts';
import { outwardJson, timeValue } from '../shared/values.ts';
import { askedReport, fileReport } from './reports.ts';

const FILES_MAX = 31;
/** Of the provider's figure, or a second and a cent: less than that is not worth a letter. */
const TOLERANCE_PERCENT_DEFAULT = 1;
const TOLERANCE_SECONDS = 1;
const TOLERANCE_MICRO_USD = 10_000;
const DAY_LENGTH = 'YYYY-MM-DD'.length;
const DAY_MS = 86_400_000;

const usage = `Usage: voxgate reconcile PROVIDER FILE… [--from DAY] [--to DAY]
                         [--tolerance PERCENT] [--json]
       voxgate reconcile PROVIDER --api [--from DAY] [--to DAY]
                         [--key-file PATH] [--tolerance PERCENT] [--json]

Compares a provider's bill with the audio that it received and that customers
were charged for, by day (UTC) and model, and explains the differences: failed
legs, rounding, and the rest. The gateway's amounts are at the provider's list
price. Exit code 1 if more than the tolerance remains unexplained.

  FILE         usage that you exported: JSON of Deepgram, OpenAI or
               Speechmatics, or CSV with the columns day, model, seconds (or
               minutes, hours) and amount, in USD
  --api        requests usage from the provider, with the gateway's credential
  --key-file   a file with another key for --api: an admin key of OpenAI
  --from       first day; that of the report when absent, with --api the first
               of that month
  --to         last day; that of the report when absent, with --api yesterday
  --tolerance  percent that may remain unexplained; 1 when absent
  --json       prints one JSON object

Figures of what the gateway sent are kept for 400 days, and begin with the first
start of a version that records them.`;

export const reconcile: Command = {
  usage,
  run: (args) =>
    explained(usage, async () => {
      try {
        return await run(args);
      } catch (error) {
        throw error instanceof UsageReportError ? new CommandError(lower(error.message)) : error;
      }
    }),
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments({ usage, operandsMax: FILES_MAX + 1 }, args, {
    api: { type: 'boolean' },
    from: { type: 'string' },
    to: { type: 'string' },
    'key-file': { type: 'string' },
    tolerance: { type: 'string' },
    json: { type: 'boolean' },
  });
  const [name = '', ...files] = positionals;
  const config = loadSettings();
  const providers = loadProviders(config);
  const provider = providers.get(name);
  if (provider === undefined) throw new WrongInput(`name a provider, one of ${[...providers.keys()].join(', ')}.`);
  const isAsked = values.api === true;
  if (isAsked === files.length > 0) throw new WrongInput('name one or more files, or --api.');
  if (!isAsked && values['key-file'] !== undefined) throw new WrongInput('--key-file is for --api.');
  const tolerance = toleranceOf(values.tolerance);
  const wanted = { from: dayValue('--from', values.from), to: dayValue('--to', values.to) };
  const days = isAsked ? askedDays(wanted) : undefined;
  const reported =
    days === undefined
      ? readFiles(provider, files)
      : await askedReport({ provider, providers, config }, days, values['key-file']);
  const { from, to } = days ?? { ...daysOf(reported), ...defined(wanted) };
  if (from > to) throw new WrongInput(`--from (${from}) is after --to (${to}).`);
  const within = reported.filter((each) => each.from >= from && each.to <= to);
  const left = reported.length - within.length;
  if (left > 0) tell(`${left} rows of the report are not of ${from} to ${to}, and were left out.`);
  const ours = await sent(name, from, to);
  const rows = compare(within, ours, pricedModels(provider));
  const isExplained = rows.every((row) => isTolerable(row, tolerance));
  if (values.json) print(outwardJson({ provider: name, from, to, isExplained, rows }));
  else printRows(rows, ours.length === 0, provider);
  return isExplained ? EXIT.ok : EXIT.failed;
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const defined = <Value extends object>(value: Value) =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [Name in keyof Value]?: Exclude<Value[Name], undefined>;
  };

function dayValue(name: string, text: string | undefined): string | undefined {
  return text === undefined ? undefined : timeValue(name, text).slice(0, DAY_LENGTH);
}

/** The month of yesterday until then: most providers know nothing of today. */
function askedDays({ from, to }: { from: string | undefined; to: string | undefined }): { from: string; to: string } {
  const last = to ?? new Date(Date.now() - DAY_MS).toISOString().slice(0, DAY_LENGTH);
  const first = from ?? `${last.slice(0, 'YYYY-MM'.length)}-01`;
  return daysOf([{ from: first, to: last, model: null }]);
}

function toleranceOf(text: string | undefined): number {
  if (text === undefined) return TOLERANCE_PERCENT_DEFAULT;
  if (/^\d{1,3}(\.\d{1,3})?$/.test(text) && Number(text) <= 100) return Number(text);
  throw new WrongInput('--tolerance is a percentage from 0 to 100.');
}

function readFiles(provider: Provider, files: readonly string[]): ReportedUsage[] {
  const reports = files.map((name) => ({ name, reported: fileReport(provider, name) }));
  requireOnce(reports);
  return reports.flatMap(({ reported }) => reported);
}

async function sent(provider: string, from: string, to: string): Promise<LegUsageRow[]> {
  try {
    return await withStore({ make: false, reads: true }, (store) => sentUsage(store, provider, from, to));
  } catch (error) {
    const isOlder = error instanceof StoreError && error.message.includes('knows no such call');
    throw isOlder ? new CommandError('the node that owns the accounts does not count legs yet: upgrade it.') : error;
  }
}

/** At the list prices: what the operator's prices and margin add is for customers. */
function pricedModels(provider: Provider): PricedModel[] {
  const prices = createPriceList([provider]);
  return provider.models.map(({ id }) => {
    const model: PricedModel = { name: id.slice(id.indexOf('/') + 1), prices: {}, metered: [] };
    const metered: ('batch' | 'live')[] = [];
    for (const mode of ['batch', 'live'] as const) {
      const price = prices.priceOf(id, mode);
      if (price === undefined) continue;
      model.prices[mode] = price;
      if (price.metered === 'connection') metered.push(mode);
    }
    return { ...model, metered };
  });
}

function isTolerable(
  { vendor, unexplainedSeconds = 0, unexplainedMicroUsd = 0n }: ComparedRow,
  percent: number,
): boolean {
  const { seconds = 0, microUsd = 0n } = vendor;
  const part = percent / 100;
  return (
    Math.abs(unexplainedSeconds) <= Math.max(TOLERANCE_SECONDS, seconds * part) &&
    Math.abs(Number(unexplainedMicroUsd)) <= Math.max(TOLERANCE_MICRO_USD, Number(microUsd) * part)
  );
}

function printRows(rows: readonly ComparedRow[], isUncounted: boolean, { name, title }: Provider): void {
  printTable([
    [
      'DAY',
      'MODEL',
      `${title.toUpperCase()}, S`,
      'CHARGED, S',
      `${title.toUpperCase()}, USD`,
      'OURS, USD',
      'DIFFERENCE',
    ],
    ...rows.map((row) => [
      row.from === row.to ? row.from : `${row.from}..${row.to}`,
      row.model ?? '(all)',
      row.vendor.seconds === undefined ? '' : seconds(row.vendor.seconds),
      seconds(row.ours.chargedMs / 1000),
      row.vendor.microUsd === undefined ? '' : usdOf(row.vendor.microUsd),
      usdOf(row.ours.chargedMicroUsd),
      whyOf(row),
    ]),
  ]);
  if (isUncounted) tell(`The gateway has counted nothing that it sent to ${name} on these days.`);
}

const seconds = (count: number): string => count.toFixed(1);
const signed = (text: string): string => (text.startsWith('-') ? text : `+${text}`);

/** `+12.0 s: failed legs 11.2, rounding; +0.02 USD`. */
function whyOf(row: ComparedRow): string {
  const { ours, differenceSeconds, differenceMicroUsd, unexplainedSeconds = 0, unexplainedMicroUsd = 0n } = row;
  const parts: string[] = [];
  if (differenceSeconds !== undefined) parts.push(`${signed(seconds(differenceSeconds))} s`);
  if (differenceMicroUsd !== undefined) parts.push(`${signed(usdOf(differenceMicroUsd))} USD`);
  const reasons: string[] = [];
  if (ours.failedMs > 0) reasons.push(`failed legs ${seconds(ours.failedMs / 1000)} s`);
  if (isRounded(row)) reasons.push('rounding');
  if (ours.attempts > 0) reasons.push(`${ours.attempts} failed attempts at files, which may be billed`);
  if (ours.standbys > 0) reasons.push(`${ours.standbys} standby connections, ${seconds(ours.standbyMs / 1000)} s`);
  if (ours.probes > 0) reasons.push(`${ours.probes} probes of a primary, ${seconds(ours.probeMs / 1000)} s`);
  if (ours.replayedMs > 0) reasons.push(`replayed ${seconds(ours.replayedMs / 1000)} s, which is charged`);
  if (ours.ownMs > 0) reasons.push(`own keys ${seconds(ours.ownMs / 1000)} s, on customers' bills`);
  if (unexplainedSeconds !== 0) reasons.push(`unexplained ${signed(seconds(unexplainedSeconds))} s`);
  if (unexplainedMicroUsd !== 0n) reasons.push(`unexplained ${signed(usdOf(unexplainedMicroUsd))} USD`);
  return reasons.length === 0 ? parts.join(', ') : `${parts.join(', ')}: ${reasons.join('; ')}`;
}

/** Something is left after the failed legs that rounding may be. */
const isRounded = ({ ours, differenceSeconds, unexplainedSeconds }: ComparedRow): boolean =>
  differenceSeconds !== undefined &&
  Math.abs(differenceSeconds - ours.failedMs / 1000 - (unexplainedSeconds ?? 0)) >= 0.05 + ours.possibleMs / 1000;
