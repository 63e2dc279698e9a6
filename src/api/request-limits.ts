// What one request may spend: `max_cost` and `max_seconds` of a live session or a file. A request and its client token may both set them;
// the lower value counts.

/** A live session also ends at the gateway's own limit. */
export const MAX_SECONDS = { min: 1, max: 360_000 } as const;
/** USD: at most nine digits before the point and six after it. */
export const USD_FORM = '^\\d{1,9}(\\.\\d{1,6})?$';

export interface RequestLimits {
  maxSeconds?: number | undefined;
  maxMicroUsd?: bigint | undefined;
}

/** Undefined where neither has a limit, so that a request without limits carries nothing. */
export function tightest(one: RequestLimits | undefined, other: RequestLimits | undefined): RequestLimits | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    maxSeconds: least(one.maxSeconds, other.maxSeconds),
    maxMicroUsd: least(one.maxMicroUsd, other.maxMicroUsd),
  };
}

const least = <Value extends number | bigint>(one: Value | undefined, other: Value | undefined): Value | undefined =>
  one === undefined || (other !== undefined && other < one) ? other : one;
