// Prices and amounts: decimal strings outside, integer micro-dollars inside. Nothing is rounded twice.
import type { Price } from '../api/models.ts';

const MICRO_USD = 1_000_000n;
const MS_PER_MINUTE = 60_000n;

/** Micro-dollars of a decimal string such as "0.0043". Digits past the sixth are refused: they could not be billed. */
export function microUsdOf(amount: string): bigint {
  const match = /^(\d+)(?:\.(\d{1,6}))?$/.exec(amount);
  if (match === null) throw new Error(`"${amount}" is not an amount in USD with at most six decimals.`);
  return BigInt(match[1] as string) * MICRO_USD + BigInt((match[2] ?? '').padEnd(6, '0'));
}

/** The decimal string of an amount, with at least two and at most six decimals. */
export function usdOf(microUsd: bigint): string {
  const fraction = (microUsd % MICRO_USD)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${microUsd / MICRO_USD}.${fraction}`;
}

/** What a leg costs: price per minute × milliseconds / 60 000, rounded half-up once; per-session prices count once. */
export function costMicroUsd(price: Price, audioMs: number): bigint {
  const amount = microUsdOf(price.amount);
  if (price.unit === 'session') return audioMs > 0 ? amount : 0n;
  return (amount * BigInt(Math.round(audioMs)) * 2n + MS_PER_MINUTE) / (2n * MS_PER_MINUTE);
}
