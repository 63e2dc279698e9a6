// Entries as the text of a log, and copies of one empty database that apply them.
import Database from 'better-sqlite3';
import { drawFor } from '../../../src/node/store/draw.ts';
import { applyEntry, type Target } from '../../../src/node/store/group-commit.ts';
import type { Answer, Call, Entry } from '../../../src/node/store/protocol.ts';
import type { CallName } from '../../../src/node/store/store.ts';
import { createTables } from '../../../src/node/store/tables.ts';
import { plainOfText, textOfPlain } from '../../../src/runtime/plain-data.ts';
import { EntryContext } from '../../../src/store/entry.ts';
import { keepDatabase } from '../../../src/store/keep-database.ts';
import { emptyDatabase } from '../../setup/empty-database.ts';
import { lazily } from './lazy-statements.ts';
import { purely } from './purely.ts';

export interface Replica {
  database: Database.Database;
  /** Takes an entry as text and returns the answers as text. Throws if an operation used a clock, a random source or a timer. */
  apply(entry: string): string;
}

/** The entries after which an odd copy loses its memory, like a process that restarts. */
const FORGETS_AT = [2, 7];

/** Copies of one database. An `odd` copy loses its memory at times, and returns rows in reverse where a query gives no order. */
export function replicas(...kinds: ('plain' | 'odd')[]): Replica[] {
  const bytes = emptyDatabase({ isInMemory: true });
  return kinds.map((kind) => {
    const database = keepDatabase(new Database(Buffer.from(bytes)));
    database.pragma('foreign_keys = ON');
    database.pragma('recursive_triggers = ON');
    database.pragma(`reverse_unordered_selects = ${kind === 'odd' ? 'ON' : 'OFF'}`);
    const open = (): Target => {
      const context = new EntryContext();
      return { database, context, tables: createTables(lazily(database), context) };
    };
    let target = open();
    let count = 0;
    return {
      database,
      apply(text) {
        if (kind === 'odd' && FORGETS_AT.includes(count++)) target = open();
        const entry = plainOfText(text) as Entry;
        const { result, used } = purely(() => applyEntry(target, entry));
        if (used.length > 0) throw new Error(`${entry.calls.map(({ name }) => name)} used ${used}`);
        return textOfPlain(result);
      },
    };
  });
}

export const textOfEntry = (nowMs: number, calls: readonly Call[]): string => textOfPlain({ nowMs, calls });

export const answersOf = (text: string): Answer[] => plainOfText(text) as Answer[];

/** A call with its drawn ids and key. */
export function callOf(name: CallName, args: readonly unknown[], nowMs: number, id = 0): Call {
  const { drawn } = drawFor(name, nowMs);
  return drawn === undefined ? { id, name, args } : { id, name, args, drawn };
}

/** All rows of all tables, in the order of their row ids. */
export function rowsOf({ database }: Pick<Replica, 'database'>): Record<string, unknown[]> {
  const tables = database
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    )
    .all();
  return Object.fromEntries(
    tables.map(({ name, sql }) => {
      const rows = /WITHOUT ROWID\s*$/.test(sql)
        ? `SELECT * FROM ${name}`
        : `SELECT rowid, * FROM ${name} ORDER BY rowid`;
      return [name, withOrder(database, rows)];
    }),
  );
}

function withOrder(database: Database.Database, sql: string): unknown[] {
  const isReversed = database.pragma('reverse_unordered_selects', { simple: true });
  database.pragma('reverse_unordered_selects = OFF');
  try {
    return database.prepare(sql).safeIntegers().raw().all();
  } finally {
    database.pragma(`reverse_unordered_selects = ${isReversed}`);
  }
}
