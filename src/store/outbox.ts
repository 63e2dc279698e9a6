// What is to be done outside the database because of a commit: written in the same transaction, done at least once. Mail is.
import { type Asynchronous, type Operations, reads, writes } from './operation.ts';
import type { TableBase } from './table-base.ts';

export interface OutboxMessage {
  number: number;
  /** `mail.verification`, `mail.password-reset`, … */
  type: string;
  params: Readonly<Record<string, unknown>>;
  /** 1 at the first attempt. */
  attempt: number;
}

export interface OutboxCalls {
  /** Messages that are due, oldest first; no other process gets them for the time of the lease. */
  takeOutbox(limit: number, leaseMs: number): OutboxMessage[];
  /** Done (null), or to be tried again after so many milliseconds. What it was about is forgotten when it is done. */
  endOutbox(number: number, retryAfterMs: number | null): void;
  /** When the first message is due, in epoch milliseconds; undefined when there is none. For a caller that sets a timer instead of polling. */
  nextOutboxDueMs(): number | undefined;
}

export interface OutboxEvents {
  /**
   * Called when new messages may be in the outbox, written by any process, after the writing call was answered. It is not called
   * for older messages, or for those that are due again: ask for these.
   */
  onOutbox(listener: () => void): () => void;
}

export type OutboxStore = Asynchronous<OutboxCalls>;

export const OUTBOX_OPERATIONS = {
  takeOutbox: writes(),
  endOutbox: writes(),
  nextOutboxDueMs: reads(),
} as const satisfies Operations<OutboxCalls>;

export interface OutboxWriting {
  /** Inside the caller's transaction. */
  addToOutbox(type: string, params: Readonly<Record<string, unknown>>): void;
}

export interface OutboxNews {
  /** Whether something was added since this was last asked, by any process. */
  hasNews(): boolean;
}

type Row = Omit<OutboxMessage, 'params'> & { params: string };

export function createOutboxTables({ database, nowMs }: TableBase): OutboxCalls & OutboxWriting & OutboxNews {
  const insert = database.prepare<[string, string, number]>(
    'INSERT INTO outbox (type, params, due_at_ms) VALUES (?, ?, ?)',
  );
  const due = database.prepare<[number, number], Row>(
    'SELECT number, type, params, attempts + 1 AS attempt FROM outbox WHERE due_at_ms <= ? ORDER BY number LIMIT ?',
  );
  const claim = database.prepare<[number, number]>(
    'UPDATE outbox SET attempts = attempts + 1, due_at_ms = ? WHERE number = ?',
  );
  const remove = database.prepare<[number]>('DELETE FROM outbox WHERE number = ?');
  const retry = database.prepare<[number, number]>('UPDATE outbox SET due_at_ms = ? WHERE number = ?');
  const firstDue = database.prepare<[], number | null>('SELECT min(due_at_ms) FROM outbox').pluck();
  const newest = database.prepare<[], number>('SELECT coalesce(max(number), 0) FROM outbox').pluck();
  let seen = 0;

  const take = database.transaction((limit: number, leaseMs: number): OutboxMessage[] => {
    const rows = due.all(nowMs(), Math.max(0, limit));
    for (const { number } of rows) claim.run(nowMs() + leaseMs, number);
    return rows.map((row) => ({ ...row, params: JSON.parse(row.params) as Record<string, unknown> }));
  });

  return {
    addToOutbox(type, params) {
      insert.run(type, JSON.stringify(params), nowMs());
    },
    hasNews() {
      // Numbers are never given again, so a message that came and went lowers nothing.
      const number = newest.get()!;
      if (number <= seen) return false;
      seen = number;
      return true;
    },
    takeOutbox: (limit, leaseMs) => take.immediate(limit, leaseMs),
    endOutbox(number, retryAfterMs) {
      if (retryAfterMs === null) remove.run(number);
      else retry.run(nowMs() + retryAfterMs, number);
    },
    nextOutboxDueMs: () => firstDue.get() ?? undefined,
  };
}
