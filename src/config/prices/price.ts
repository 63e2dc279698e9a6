// Prices and amounts: decimal strings outside, integer micro-dollars inside. Nothing is rounded twice.

import type { UsageRow } from '../../api/listen-events.ts';
import type { Price } from '../../api/models.ts';

const MICRO_USD = 1_000_000n;
const MS_PER_MINUTE = 60_000n;

/** A price in whole micro-dollars, as the ledger keeps it. */
export interface ExactPrice {
  unit: Price['unit'];
  microUsd: bigint;
  /** The least that is charged once anything was heard; 0 without. */
  minimumMicroUsd: bigint;
}

/** Micro-dollars of a decimal string such as "0.0043". Digits past the sixth are refused: they could not be billed. */
export function microUsdOf(amount: string): bigint {
  const match = /^(\d+)(?:\.(\d{1,6}))?$/.exec(amount);
  if (match === null) throw new Error(`"${amount}" is not an amount in USD with at most six decimals.`);
  return BigInt(match[1] as string) * MICRO_USD + BigInt((match[2] ?? '').padEnd(6, '0'));
}

/** The decimal string of an amount, with at least two and at most six decimals; "-0.50" below zero. */
export function usdOf(microUsd: bigint): string {
  const size = microUsd < 0n ? -microUsd : microUsd;
  const fraction = (size % MICRO_USD)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${microUsd < 0n ? '-' : ''}${size / MICRO_USD}.${fraction}`;
}

/** A price of the catalogue in whole micro-dollars. */
export function exactPrice({ unit, amount, minimum }: Price): ExactPrice {
  return { unit, microUsd: microUsdOf(amount), minimumMicroUsd: minimum === undefined ? 0n : microUsdOf(minimum) };
}

/**
 * What all that one model heard of a session costs: price per minute × whole milliseconds / 60 000, rounded half-up once; a
 * per-session price once; at least the minimum. Nothing when nothing was heard, or with the customer's own provider key.
 */
export function costMicroUsd(price: Price | ExactPrice, audioMs: number, own = false): bigint {
  const ms = BigInt(Math.round(audioMs));
  if (own || ms <= 0n) return 0n;
  const { unit, microUsd, minimumMicroUsd } = 'amount' in price ? exactPrice(price) : price;
  const cost = unit === 'session' ? microUsd : (microUsd * ms * 2n + MS_PER_MINUTE) / (2n * MS_PER_MINUTE);
  return cost > minimumMicroUsd ? cost : minimumMicroUsd;
}

/** What one model heard of a session, and how long connections to it were open where that is what its price is for. */
interface Metered {
  audioMs: number;
  connectionMs?: number;
}

/** The larger of the two is billed: a connection is open while audio is heard, and audio may come faster than time passes. */
export const billedMsOf = ({ audioMs, connectionMs = 0 }: Metered): number => Math.max(audioMs, connectionMs);

/** What a line of a bill costs. */
export const lineCostMicroUsd = (line: Metered & { price: ExactPrice; own: boolean }): bigint =>
  costMicroUsd(line.price, billedMsOf(line), line.own);

/** A line of a bill as clients see it. */
export function usageRow(line: Metered & { model: string; own: boolean; costMicroUsd: bigint }): UsageRow {
  const { model, audioMs, own, costMicroUsd } = line;
  return { model, seconds: audioMs / 1000, ...connectionSeconds(line), cost_usd: usdOf(costMicroUsd), byok: own };
}

/** Told only where there are any. */
export const connectionSeconds = ({ connectionMs = 0 }: Pick<Metered, 'connectionMs'>) =>
  connectionMs === 0 ? {} : { connection_seconds: connectionMs / 1000 };
