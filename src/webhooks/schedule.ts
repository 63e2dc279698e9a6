// When a delivery is tried again, and what an answer means. Pure.
import type { AttemptedDelivery } from './store/calls.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits before further attempts: three days together. After the last one the delivery has failed. */
export const RETRY_MS: readonly number[] = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
  12 * HOUR_MS,
  12 * HOUR_MS,
  12 * HOUR_MS,
  12 * HOUR_MS,
];
/** Each wait is up to this much shorter or longer, so that what failed together does not come again together. */
const JITTER = 0.1;
/** The receiver wants no more. */
const GONE = 410;

/**
 * What becomes of a delivery after an attempt.
 *
 * @param status undefined without an answer
 * @param retries attempts before this one, since the delivery was created or sent again by request
 * @param random from 0 up to 1
 * @param waitsMs before further attempts
 */
export function afterAttempt(
  status: number | undefined,
  retries: number,
  random: number,
  waitsMs: readonly number[] = RETRY_MS,
): Pick<AttemptedDelivery, 'outcome' | 'retryAfterMs'> {
  if (status !== undefined && status >= 200 && status < 300) return { outcome: 'delivered', retryAfterMs: null };
  if (status === GONE) return { outcome: 'gone', retryAfterMs: null };
  const waitMs = waitsMs[retries];
  if (waitMs === undefined) return { outcome: 'failed', retryAfterMs: null };
  return { outcome: 'retry', retryAfterMs: Math.round(waitMs * (1 - JITTER + 2 * JITTER * random)) };
}
