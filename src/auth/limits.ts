// How much one key may ask for: requests per minute and sessions at a time. A client token counts for the key that minted
// it, because the key's id is what is counted. Limits of a whole node are kept elsewhere.
import type { Clock } from '../../machines/clock.ts';
import { refuse } from '../api/errors.ts';

const MINUTE_MS = 60_000;
/** A session may end at any time; this is when asking again is worth it. */
const SESSION_RETRY_SECONDS = 5;
const KEYS_MAX = 10_000;
/** What is left of adding up intervals that are no whole milliseconds. */
const ROUNDING_MS = 1e-3;

/** `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds until the whole limit is there again). */
export type RateLimitHeaders = Record<'RateLimit-Limit' | 'RateLimit-Remaining' | 'RateLimit-Reset', string>;

export interface KeyLimits {
  /**
   * Counts a request and gives the headers for its answer.
   * Throws a Refusal `rate_limit_exceeded` with `Retry-After` and the same headers.
   */
  takeRequest(keyId: string): RateLimitHeaders;
  /**
   * Counts a session until the returned function is called; calling that twice does no harm.
   * Throws a Refusal `too_many_sessions` with `Retry-After` and the headers.
   */
  takeSession(keyId: string): () => void;
  /** Keys whose requests were forgotten too early, because too many keys were active at once. */
  readonly forgottenKeys: number;
}

export interface KeyLimitsOptions {
  requestsPerMinuteMax: number;
  sessionsMax: number;
  clock: Pick<Clock, 'now'>;
  /** Keys whose requests are remembered at a time, 10,000 when absent. Past it the key that was idle longest gets a fresh minute. */
  keysMax?: number;
}

export function createKeyLimits(options: KeyLimitsOptions): KeyLimits {
  const requests = createRequestLimit(options);
  const takeSession = createSessionLimit(options.sessionsMax);
  return {
    takeRequest: requests.take,
    takeSession,
    get forgottenKeys() {
      return requests.forgottenKeys();
    },
  };
}

function createRequestLimit({ requestsPerMinuteMax, clock, keysMax = KEYS_MAX }: KeyLimitsOptions) {
  const intervalMs = MINUTE_MS / requestsPerMinuteMax;
  // A token bucket as one number per key: the time at which it will be full again. The key that was idle longest comes first.
  const fullAtMs = new Map<string, number>();
  let forgottenKeys = 0;

  /** A full bucket is as good as none. Looks at the longest idle keys only, so it costs no more than adding them did. */
  function forgetKeys(nowMs: number): void {
    for (const [keyId, fullAt] of fullAtMs) {
      const isFull = fullAt <= nowMs;
      if (!isFull && fullAtMs.size <= keysMax) return;
      if (!isFull) forgottenKeys += 1;
      fullAtMs.delete(keyId);
    }
  }

  function take(keyId: string): RateLimitHeaders {
    const nowMs = clock.now();
    const missingMs = Math.max(0, (fullAtMs.get(keyId) ?? 0) - nowMs);
    const waitMs = missingMs + intervalMs - MINUTE_MS;
    if (waitMs > ROUNDING_MS) {
      const seconds = Math.ceil(waitMs / 1000);
      throw refuse(
        'rate_limit_exceeded',
        `This key may make ${requestsPerMinuteMax} requests per minute. Try again in ${seconds} s.`,
        {
          retryAfterSeconds: seconds,
          headers: headers(requestsPerMinuteMax, 0, missingMs / 1000),
        },
      );
    }
    fullAtMs.delete(keyId);
    fullAtMs.set(keyId, nowMs + missingMs + intervalMs);
    forgetKeys(nowMs);
    const remaining = Math.floor((ROUNDING_MS - waitMs) / intervalMs);
    return headers(requestsPerMinuteMax, remaining, (missingMs + intervalMs) / 1000);
  }

  return { take, forgottenKeys: () => forgottenKeys };
}

function createSessionLimit(sessionsMax: number): (keyId: string) => () => void {
  const openByKey = new Map<string, number>();

  return (keyId) => {
    const open = openByKey.get(keyId) ?? 0;
    if (open >= sessionsMax) {
      throw refuse(
        'too_many_sessions',
        `This key may have ${sessionsMax} sessions at a time. End one, or try again later.`,
        {
          retryAfterSeconds: SESSION_RETRY_SECONDS,
          headers: headers(sessionsMax, 0, SESSION_RETRY_SECONDS),
        },
      );
    }
    openByKey.set(keyId, open + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = openByKey.get(keyId)! - 1;
      if (left === 0) openByKey.delete(keyId);
      else openByKey.set(keyId, left);
    };
  };
}

function headers(limit: number, remaining: number, resetSeconds: number): RateLimitHeaders {
  return {
    'RateLimit-Limit': `${limit}`,
    'RateLimit-Remaining': `${remaining}`,
    'RateLimit-Reset': `${Math.ceil(resetSeconds)}`,
  };
}
