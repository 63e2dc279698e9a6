// The outbox on an open database.

import type { TableContext } from '../table-context.ts';
import type { OutboxCalls, OutboxMessage } from './calls.ts';

export interface OutboxWriting {
  /** Inside the caller's transaction. */
  addToOutbox(type: string, params: Readonly<Record<string, unknown>>): void;
}

export interface OutboxNews {
  /** Whether something was added since this was last asked, by any process. */
  hasNews(): boolean;
}

type Row = Omit<OutboxMessage, 'params'> & { params: string };

export function createOutboxTables({
  database,
  nowMs,
}: Omit<TableContext, 'audit' | 'outbox'>): OutboxCalls & OutboxWriting & OutboxNews {
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
