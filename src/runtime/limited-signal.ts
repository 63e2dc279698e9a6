// A signal that is aborted when its time is over, or with another one: a timer and a listener that both go when the work is done,
// where `AbortSignal.any` and `AbortSignal.timeout` leave them to the garbage collector, request by request.
import type { Clock } from '../../machines/clock.ts';

export interface LimitedSignal {
  readonly signal: AbortSignal;
  /** Whether it was the time that was over. */
  readonly isTimedOut: boolean;
  /** Aborts it before its time. */
  abort(reason: unknown): void;
  /** The work is done: nothing aborts the signal any more. Any number of times. */
  release(): void;
}

/** @param parent whose abort, and reason, is passed on */
export function limitedSignal(clock: Clock, timeoutMs: number, parent?: AbortSignal): LimitedSignal {
  const end = new AbortController();
  let isTimedOut = false;
  const timer = clock.setTimeout(() => {
    isTimedOut = true;
    end.abort(new DOMException('The work took too long.', 'TimeoutError'));
  }, timeoutMs);
  const abort = () => end.abort(parent?.reason);
  if (parent?.aborted) abort();
  else parent?.addEventListener('abort', abort, { once: true });
  return {
    signal: end.signal,
    get isTimedOut() {
      return isTimedOut;
    },
    abort: (reason) => end.abort(reason),
    release: () => {
      clock.clearTimeout(timer);
      parent?.removeEventListener('abort', abort);
    },
  };
}
