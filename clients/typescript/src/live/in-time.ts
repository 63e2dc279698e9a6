import { TimeoutError } from '../errors.ts';
import { pause } from '../http/backoff.ts';

/** What the promise gives, within a time: a TimeoutError else, and the reason of the signal where that is aborted first. */
export async function inTime<Value>(promise: Promise<Value>, ms: number, signal: AbortSignal): Promise<Value> {
  const first = new AbortController();
  const stop = () => first.abort();
  signal.addEventListener('abort', stop, { once: true });
  const late = async (): Promise<never> => {
    await pause(ms, first.signal);
    throw new TimeoutError('`getToken` did not answer in time. `connectTimeoutMs` says how long to wait.', {
      code: 'timeout',
    });
  };
  try {
    return await Promise.race([promise, late()]);
  } finally {
    signal.removeEventListener('abort', stop);
    first.abort();
  }
}
