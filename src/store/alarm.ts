// One timer for the earliest due time in the database, such as the end of a lease. Call `look` after a change of these times.

const TIMER_MS_MAX = 2 ** 31 - 1;
/** The least time between two rings: many moments close together are one. */
const APART_MS = 100;
/** After a failure; a full disk or a lock does not go away sooner because it is asked more often. */
const RETRY_MS = 1000;

export interface AlarmOptions {
  /** Epoch milliseconds of the next moment; undefined without one. May throw. */
  next(): number | undefined;
  /** The moment has come, or has passed already. May throw: then it is tried again. */
  ring(): void;
}

export interface Alarm {
  /** The moments may have changed. Never throws. */
  look(): void;
  /** The same, and rings before it returns when the next moment has passed already. Never throws. */
  catchUp(): void;
  stop(): void;
}

export function createAlarm({ next, ring }: AlarmOptions): Alarm {
  let timer: NodeJS.Timeout | undefined;
  let setForMs: number | undefined;
  let notBeforeMs = 0;
  let stopped = false;

  function look(): void {
    if (stopped) return;
    const atMs = momentMs();
    if (atMs === setForMs) return;
    clearTimeout(timer);
    setForMs = atMs;
    if (atMs === undefined) return;
    timer = setTimeout(come, Math.min(TIMER_MS_MAX, Math.max(0, atMs - Date.now()) + 1));
  }

  function momentMs(): number | undefined {
    try {
      const atMs = next();
      return atMs === undefined ? undefined : Math.max(atMs, notBeforeMs);
    } catch {
      // A call of `look` meanwhile must not put the retry off, or it would never come.
      return Math.min(setForMs ?? Number.POSITIVE_INFINITY, Date.now() + RETRY_MS);
    }
  }

  function come(): void {
    clearTimeout(timer);
    setForMs = undefined;
    try {
      ring();
      notBeforeMs = Date.now() + APART_MS;
    } catch {
      notBeforeMs = Date.now() + RETRY_MS;
    }
    look();
  }

  return {
    look,
    catchUp() {
      if (stopped) return;
      const atMs = momentMs();
      if (atMs !== undefined && atMs <= Date.now()) come();
      else look();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
