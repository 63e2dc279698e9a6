// Keeps databases from being collected. On Node 24 the library's object ends the whole process when it is collected while no
// script runs; open and closed ones alike. A process opens few, and a closed one takes next to nothing.
import type { Database } from 'better-sqlite3';

const kept: Database[] = [];

/** The same database, which lives as long as its thread. */
export function keepDatabase(database: Database): Database {
  kept.push(database);
  return database;
}
