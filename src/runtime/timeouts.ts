// Timeouts of what is seldom idle for long, of a signal, and of a promise.
import type { Clock } from '../../machines/clock.ts';

/** A timer is late by more only if the process did not run: it was frozen, or its machine was asleep. */
const FROZEN_MS = 1_000;
/** A timer that fires later than this waited for a busy process, and messages that move the deadline may wait in its sockets. */
const LATE_MS = 20;

interface IdleTimerOptions {
  /**
   * After a freeze, wait for the full time once more: what was being waited for froze as well, or its answer is there and was not
   * read yet.
   */
  outlastsFreeze?: boolean;
}

/**
 * Calls `reached` once `afterMs` have gone by since the last `touch`. Starts when created; `stop` ends it for good. After a delay of the
 * whole process, what waits in its sockets is read first.
 */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #reached: () => void;
  readonly #outlastsFreeze: boolean;
  #touchedAt: number;
  #timer: unknown;
  #stopped = false;

  constructor(clock: Clock, afterMs: number, reached: () => void, { outlastsFreeze = false }: IdleTimerOptions = {}) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#reached = reached;
    this.#outlastsFreeze = outlastsFreeze;
    this.#touchedAt = clock.now();
    this.#arm(afterMs);
  }

  touch(): void {
    this.#touchedAt = this.#clock.now();
  }

  stop(): void {
    this.#stopped = true;
    this.#clock.clearTimeout(this.#timer);
  }

  #arm(delayMs: number, isLast = false): void {
    const dueAt = this.#clock.now() + delayMs;
    this.#timer = this.#clock.setTimeout(() => {
      if (this.#stopped) return;
      if (this.#outlastsFreeze && this.#clock.now() - dueAt > FROZEN_MS) this.touch();
      const leftMs = this.#touchedAt + this.#afterMs - this.#clock.now();
      if (leftMs > 0) {
        this.#arm(leftMs);
        return;
      }
      if (this.#clock.now() - dueAt > LATE_MS && !isLast) {
        this.#arm(0, true);
        return;
      }
      this.#stopped = true;
      this.#reached();
    }, delayMs);
  }
}

export interface LimitedSignal {
  readonly signal: AbortSignal;
  /** Whether it was the time that was over. */
  readonly isTimedOut: boolean;
  /** Aborts it before its time. */
  abort(reason: unknown): void;
  /** The work is done: nothing aborts the signal any more. Any number of times. */
  release(): void;
}

/**
 * A signal that is aborted when its time is over, or with another one: timer and listener both go when the work is done, where
 * `AbortSignal.any` and `AbortSignal.timeout` leave them to the garbage collector, request by request.
 *
 * @param parent whose abort, and reason, is passed on
 */
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

/** Resolves with the result of `work`, or with undefined when it takes longer than `timeoutMs`. Always clears its timer. */
export async function withTimeout<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
