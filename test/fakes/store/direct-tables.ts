// The tables of the store without its thread. Each call is a separate entry, at the time of the test's clock.
import type { Database } from 'better-sqlite3';
import { drawFor } from '../../../src/node/store/draw.ts';
import type { Target } from '../../../src/node/store/group-commit.ts';
import { CALL_NAMES, kindOf, type StoreCalls } from '../../../src/node/store/store.ts';
import { createTables, type Tables } from '../../../src/node/store/tables.ts';
import { EntryContext } from '../../../src/store/entry.ts';

export type DirectTables = StoreCalls &
  Omit<Tables, keyof StoreCalls | 'nextLeaseEndMs'> & { nextLeaseEndMs(): number | undefined };

/** @param nowMs wall-clock milliseconds, read once for each call */
export function directTables(database: Database, nowMs: () => number): { tables: DirectTables; target: Target } {
  const context = new EntryContext();
  const tables = createTables(database, context);
  const calls = CALL_NAMES.map((name) => [
    name,
    (...args: unknown[]) => {
      const atMs = nowMs();
      const { drawn, answered } = drawFor(name, atMs);
      context.begin(atMs);
      context.beginCall(drawn);
      const before = tables.changes();
      const value = Reflect.apply(tables[name] as (...args: unknown[]) => unknown, tables, args);
      const isWriting = kindOf(name) === 'writes' || kindOf(name) === 'notes';
      if (isWriting && name !== 'noteLedger' && tables.changes() > before) tables.markWritten();
      return answered(value);
    },
  ]);
  return {
    tables: {
      ...tables,
      ...(Object.fromEntries(calls) as StoreCalls),
      nextLeaseEndMs: () => tables.nextLeaseEndMs(nowMs()),
    },
    target: { database, tables, context },
  };
}
