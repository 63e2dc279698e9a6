// Keeps databases and their statements from being collected. On Node 24 the library's objects end the whole process when they
// are collected while no script runs, open and closed ones alike. A thread opens few databases and prepares its statements once.
import type { Database } from 'better-sqlite3';

const kept: unknown[] = [];

interface Native {
  prepare(...args: unknown[]): unknown;
}

/** The same database; it and everything that it prepares, pragmas too, live as long as their thread. */
export function keepDatabase(database: Database): Database {
  kept.push(database);
  // The library's own prepare is behind the one that programs call, and behind `pragma`.
  for (const symbol of Object.getOwnPropertySymbols(database)) {
    const native = Reflect.get(database, symbol) as Partial<Native> | null;
    if (typeof native !== 'object' || typeof native?.prepare !== 'function') continue;
    const prepare = native.prepare.bind(native);
    native.prepare = (...args) => {
      const statement = prepare(...args);
      kept.push(statement);
      return statement;
    };
  }
  return database;
}
