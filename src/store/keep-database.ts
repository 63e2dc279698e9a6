// Keeps databases and their statements from being collected. On Node 24 the library's objects end the whole process when they
// are collected while no script runs, open and closed ones alike. A thread opens few databases and prepares its statements once.
import type { Database } from 'better-sqlite3';

/** The file in the data directory. */
export const DATABASE_NAME = 'voxgate.db';

const kept: unknown[] = [];

interface Native {
  prepare(...args: unknown[]): unknown;
}

/** The same database; it and everything that it prepares, pragmas too, live as long as their thread. */
export function keepDatabase(database: Database): Database {
  kept.push(database);
  onPrepared(database, (statement) => kept.push(statement));
  return database;
}

/** Tells of every statement that is prepared from here on: the library's own prepare is behind that of programs, and behind `pragma`. */
export function onPrepared(database: Database, tell: (statement: unknown) => void): void {
  for (const symbol of Object.getOwnPropertySymbols(database)) {
    const native = Reflect.get(database, symbol) as Partial<Native> | null;
    if (typeof native !== 'object' || typeof native?.prepare !== 'function') continue;
    const prepare = native.prepare.bind(native);
    native.prepare = (...args) => {
      const statement = prepare(...args);
      tell(statement);
      return statement;
    };
  }
}
