// What replicas of the accounts have in common.
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** All rows that replicas at the same entry have in common, at one moment. */
export function contentOf(directory: string): { entry: number; rows: string } {
  const database = new Database(join(directory, 'voxgate.db'), { readonly: true });
  try {
    return database.transaction(() => {
      const entry = database.prepare<[], number>('SELECT entry FROM replica_position').pluck().get() ?? 0;
      const names = database
        .prepare<[], string>(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'replica_%' ORDER BY name",
        )
        .pluck()
        .all();
      const rows = names.map((name) => [name, database.prepare(`SELECT * FROM ${name}`).raw().safeIntegers().all()]);
      return { entry, rows: JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? `${value}` : value)) };
    })();
  } finally {
    database.close();
  }
}

/** The last entry of the log that the database contains. */
export function entryOf(directory: string): number {
  const database = new Database(join(directory, 'voxgate.db'), { readonly: true });
  try {
    return database.prepare<[], number>('SELECT entry FROM replica_position').pluck().get() ?? 0;
  } finally {
    database.close();
  }
}
