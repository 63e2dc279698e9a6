// A database whose statements are prepared when they are first used. All tables together have several hundred, of which a test uses a
// few: preparing the others would be most of its work. That each of them can be prepared is for test/node/store/deterministic.test.ts.
import type { Database, Statement } from 'better-sqlite3';

type Mode = 'pluck' | 'raw' | 'expand' | 'safeIntegers';

class LazyStatement {
  readonly source: string;
  readonly #database: Database;
  readonly #modes: [mode: Mode, toggle: boolean][] = [];
  #statement: Statement | undefined;

  constructor(database: Database, source: string) {
    this.#database = database;
    this.source = source;
  }

  readonly pluck = (toggle = true): this => this.#in('pluck', toggle);
  readonly raw = (toggle = true): this => this.#in('raw', toggle);
  readonly expand = (toggle = true): this => this.#in('expand', toggle);
  readonly safeIntegers = (toggle = true): this => this.#in('safeIntegers', toggle);

  readonly run = (...given: unknown[]) => this.#prepared.run(...given);
  readonly get = (...given: unknown[]) => this.#prepared.get(...given);
  readonly all = (...given: unknown[]) => this.#prepared.all(...given);
  readonly iterate = (...given: unknown[]) => this.#prepared.iterate(...given);
  readonly columns = () => this.#prepared.columns();

  #in(mode: Mode, toggle: boolean): this {
    if (this.#statement === undefined) this.#modes.push([mode, toggle]);
    else this.#statement[mode](toggle);
    return this;
  }

  get #prepared(): Statement {
    if (this.#statement === undefined) {
      const statement = this.#database.prepare(this.source);
      for (const [mode, toggle] of this.#modes) statement[mode](toggle);
      this.#statement = statement;
    }
    return this.#statement;
  }
}

/** The same database for tables that prepare their statements. */
export function lazily(database: Database): Database {
  const prepare = (source: string) => new LazyStatement(database, source) as unknown as Statement;
  return Object.create(database, {
    prepare: { value: prepare },
    transaction: { value: database.transaction.bind(database) },
  }) as Database;
}
