// When to try again: full jitter between nothing and a bound that doubles, and what `Retry-After` says.
import { abortReason } from '../errors.ts';

export const BACKOFF_MS = { first: 250, max: 10_000 } as const;
/** A `Retry-After` of more is for the caller to wait for. */
export const RETRY_AFTER_SECONDS_MAX = 60;

/** Milliseconds before attempt `attempt` (from 0): anything from 0 to 250 ms, 500 ms, 1 s … 10 s. */
export function jitterMs(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(BACKOFF_MS.max, BACKOFF_MS.first * 2 ** Math.min(attempt, 16));
}

/** Seconds of a `Retry-After` header: a number, or a date. Undefined where there is none that can be read. */
export function retryAfterSeconds(header: string | null, nowMs: number = Date.now()): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMs) / 1000);
}

/** Resolves after a time; rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortReason(signal));
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(abortReason(signal as AbortSignal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
