// The content of a replica at a mark in the log, to be compared with that of the others: kept as it was by a connection that reads, while
// entries are applied, and hashed in short steps.
import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import type { Content } from '../../cluster/replication/operators.ts';
import { keepDatabase } from '../../store/keep-database.ts';

const MARKS_MAX = 2;
/** While content is kept, the write-ahead log grows. */
const KEPT_MS = 120_000;
/** The thread applies entries between two steps. */
const STEP_MS = 10;

interface Mark {
  database: Database.Database;
  entry: number;
  timer: NodeJS.Timeout;
}

export class ContentMarks {
  readonly #file: string;
  readonly #marks = new Map<string, Mark>();

  constructor(file: string) {
    this.#file = file;
  }

  /** Keeps the content as it is now. */
  keep(id: string, entry: number): void {
    for (const [oldest] of [...this.#marks].slice(0, Math.max(0, this.#marks.size - MARKS_MAX + 1))) this.#drop(oldest);
    const database = keepDatabase(new Database(this.#file, { readonly: true, fileMustExist: true }));
    database.exec('BEGIN');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    const timer = setTimeout(() => this.#drop(id), KEPT_MS);
    timer.unref();
    this.#marks.set(id, { database, entry, timer });
  }

  /** Undefined for a mark that is not kept. */
  async read(id: string): Promise<Content | undefined> {
    const mark = this.#marks.get(id);
    if (mark === undefined) return undefined;
    const tables: Content['tables'] = {};
    try {
      for (const name of tableNames(mark.database)) tables[name] = await hashOf(mark.database, name);
      return { entry: mark.entry, tables };
    } finally {
      this.#drop(id);
    }
  }

  close(): void {
    for (const id of [...this.#marks.keys()]) this.#drop(id);
  }

  #drop(id: string): void {
    const mark = this.#marks.get(id);
    if (mark === undefined) return;
    this.#marks.delete(id);
    clearTimeout(mark.timer);
    mark.database.close();
  }
}

/** Those that replicas have in common: not what each notes of the log. */
function tableNames(database: Database.Database): string[] {
  return database
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema
       WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'replica\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .pluck()
    .all();
}

async function hashOf(database: Database.Database, name: string): Promise<{ rows: number; hash: string }> {
  const hash = createHash('sha256');
  let rows = 0;
  let untilMs = performance.now() + STEP_MS;
  for (const row of database.prepare(`SELECT * FROM "${name}"`).raw().safeIntegers().iterate()) {
    rows++;
    hash.update(JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)));
    if (performance.now() < untilMs) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    untilMs = performance.now() + STEP_MS;
  }
  return { rows, hash: hash.digest('base64url') };
}
