// How much money a chain of models can cost for so much audio, however the audio is shared among them; and how much audio
// an amount carries. What is then really charged is price.ts; who holds the money is the ledger.
import type { ExactPrice } from './price.ts';

const MS_PER_MINUTE = 60_000n;

/** One model that may hear some of the audio. `own`: with the organisation's own provider key, which costs nothing. */
export interface ReserveCandidate {
  slug: string;
  own: boolean;
  price: ExactPrice;
}

/**
 * The most that so many milliseconds can cost, in micro-USD: every session price and minimum of the paid members once, the
 * dearest of their minutes for all of the audio, and one micro-USD for the rounding of each.
 */
export function boundMicroUsd(members: readonly ReserveCandidate[], audioMs: number): bigint {
  const ms = BigInt(Math.max(0, Math.ceil(audioMs)));
  if (ms === 0n) return 0n;
  const { fixedMicroUsd, minuteMicroUsd } = boundOf(members);
  return fixedMicroUsd + (minuteMicroUsd * ms + MS_PER_MINUTE - 1n) / MS_PER_MINUTE;
}

/**
 * The most that so many milliseconds of a file can cost, in micro-USD, when one member hears all of them, whichever that is.
 * `channels`: those that the member is billed for.
 */
export function dearestMicroUsd(
  members: readonly (ReserveCandidate & { channels: number })[],
  audioMs: number,
): bigint {
  let dearest = 0n;
  for (const member of members) {
    const bound = boundMicroUsd([member], Math.ceil(audioMs) * member.channels);
    if (bound > dearest) dearest = bound;
  }
  return dearest;
}

/** The inverse: how many whole milliseconds the amount pays for in any case. Infinity when nothing costs by the minute. */
export function carriedMs(members: readonly ReserveCandidate[], microUsd: bigint): number {
  const { fixedMicroUsd, minuteMicroUsd } = boundOf(members);
  if (fixedMicroUsd > 0n && microUsd < fixedMicroUsd) return 0;
  if (minuteMicroUsd === 0n) return Number.POSITIVE_INFINITY;
  return Math.min(Number.MAX_SAFE_INTEGER, Number(((microUsd - fixedMicroUsd) * MS_PER_MINUTE) / minuteMicroUsd));
}

interface Bound {
  /** What does not grow with the audio. */
  fixedMicroUsd: bigint;
  /** Of the dearest minute. */
  minuteMicroUsd: bigint;
}

function boundOf(members: readonly ReserveCandidate[]): Bound {
  let fixedMicroUsd = 0n;
  let minuteMicroUsd = 0n;
  for (const { unit, microUsd, minimumMicroUsd } of distinctPaid(members).values()) {
    fixedMicroUsd += minimumMicroUsd + 1n;
    if (unit === 'session') fixedMicroUsd += microUsd;
    else if (microUsd > minuteMicroUsd) minuteMicroUsd = microUsd;
  }
  return { fixedMicroUsd, minuteMicroUsd };
}

/** A model that is in the chain twice, with other parameters, has one line on the bill for each price. */
function distinctPaid(members: readonly ReserveCandidate[]): ReadonlyMap<string, ExactPrice> {
  const paid = members.filter(({ own, price }) => !own && (price.microUsd > 0n || price.minimumMicroUsd > 0n));
  return new Map(
    paid.map(({ slug, price }) => [`${slug} ${price.unit} ${price.microUsd} ${price.minimumMicroUsd}`, price]),
  );
}
