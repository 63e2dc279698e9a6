// Connections to providers over HTTP: one bounded pool per origin, with the bounds that every request shares. What is asked
// and how long it may take is decided by the caller.
import { Pool } from 'undici';

/** Connections to one origin; an upload holds one as long as it lasts. */
const CONNECTIONS_MAX = 64;
/** Requests of one origin that wait for a connection; further ones fail with `pool_full`. */
const WAITING_MAX = 256;
/** Origins with a pool; the one asked for longest ago is closed for a further one, once it is idle. */
const ORIGINS_MAX = 64;
const CONNECT_MS = 5_000;
const HEADER_BYTES_MAX = 16 * 1024;

export interface HttpPoolsOptions {
  connectionsMax?: number;
  waitingMax?: number;
  originsMax?: number;
  connectMs?: number;
}

/** The pools of one node. Idle connections do not keep the process alive. */
export class HttpPools {
  readonly #options: HttpPoolsOptions;
  /** In the order of their last use. */
  readonly #pools = new Map<string, Pool>();

  constructor(options: HttpPoolsOptions = {}) {
    this.#options = options;
  }

  /** Connections that are open now. */
  get connections(): number {
    return [...this.#pools.values()].reduce((sum, { stats }) => sum + stats.connected, 0);
  }

  /** The pool of an origin, or undefined when as many requests wait for it as may. */
  of(origin: string): Pool | undefined {
    const pool = this.#pools.get(origin) ?? this.#open(origin);
    this.#pools.delete(origin);
    this.#pools.set(origin, pool);
    return pool.stats.queued < (this.#options.waitingMax ?? WAITING_MAX) ? pool : undefined;
  }

  /** Drops every connection, and what is in progress on it. */
  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #open(origin: string): Pool {
    const [oldest] = this.#pools;
    if (oldest !== undefined && this.#pools.size >= (this.#options.originsMax ?? ORIGINS_MAX)) {
      this.#pools.delete(oldest[0]);
      // Resolves when its requests are done; that is not waited for.
      oldest[1].close().catch(() => {});
    }
    return new Pool(origin, {
      connections: this.#options.connectionsMax ?? CONNECTIONS_MAX,
      pipelining: 1,
      connect: { timeout: this.#options.connectMs ?? CONNECT_MS },
      maxHeaderSize: HEADER_BYTES_MAX,
      // The exchange keeps its own deadlines, by the clock that it is given.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }
}
