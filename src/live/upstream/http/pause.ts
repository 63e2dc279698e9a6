// Waiting by the clock that everything else goes by, and not a moment longer than the job lasts.
import type { Clock } from '../../../../machines/clock.ts';

/** Resolves after the time; rejects with the signal's reason as soon as it is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted || ms <= 0) {
      if (signal.aborted) reject(signal.reason);
      else resolve();
      return;
    }
    const abort = () => {
      clock.clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}
