// Connections to providers over HTTP: one bounded pool per origin, in which organisations have fair shares, with the bounds that every
// request has in common. What is asked and how long it may take is decided by the caller.
import { type Dispatcher, Pool } from 'undici';
import { FairQueue, Quota } from '../../../runtime/limits/quota.ts';

/** Connections to one origin; an upload holds one as long as it lasts. One organisation alone may have half. */
const CONNECTIONS_MAX = 128;
/** Requests that wait for a connection to one origin, half of them of one organisation alone; further ones fail with `pool_full`. */
const WAITING_MAX = 1_024;
const SHARE = 1 / 2;
/** Origins with a pool; the one asked for longest ago is closed for a further one, if possible while it is idle. */
const ORIGINS_MAX = 64;
const CONNECT_MS = 5_000;
const HEADER_BYTES_MAX = 16 * 1024;

export interface HttpPoolsOptions {
  connectionsMax?: number;
  waitingMax?: number;
  originsMax?: number;
  connectMs?: number;
  /** What one organisation alone may have of the connections, and of those that wait. */
  share?: number;
}

/** A request's place at an origin. */
export interface PoolPlace {
  readonly pool: Pick<Dispatcher, 'dispatch'>;
  /** Resolves once a connection is free for it; undefined where one is. */
  readonly free: Promise<void> | undefined;
  /** Gives the place back, or the wait for it. Any number of times. */
  leave(): void;
}

/** The pools of one node. Idle connections do not keep the process alive. */
export class HttpPools {
  readonly #options: HttpPoolsOptions;
  /** In the order of their last use. */
  readonly #origins = new Map<string, OriginPool>();

  constructor(options: HttpPoolsOptions = {}) {
    this.#options = options;
  }

  /** Connections that are open now. */
  get connections(): number {
    return [...this.#origins.values()].reduce((sum, { pool }) => sum + pool.stats.connected, 0);
  }

  /** Undefined where as many requests of the organisation, or of all, wait for this origin as may. */
  enter(origin: string, organisationId: string): PoolPlace | undefined {
    const known = this.#origins.get(origin) ?? this.#open(origin);
    this.#origins.delete(origin);
    this.#origins.set(origin, known);
    return known.enter(organisationId);
  }

  /** Drops every connection, and what is in progress on it. */
  async close(): Promise<void> {
    const origins = [...this.#origins.values()];
    this.#origins.clear();
    await Promise.all(origins.map(({ pool }) => pool.destroy()));
  }

  #open(origin: string): OriginPool {
    if (this.#origins.size >= (this.#options.originsMax ?? ORIGINS_MAX)) {
      const all = [...this.#origins];
      const [name, { pool }] = all.find(([, { isIdle }]) => isIdle) ?? (all[0] as (typeof all)[0]);
      this.#origins.delete(name);
      // Resolves when its requests are done; that is not waited for.
      pool.close().catch(() => {});
    }
    return new OriginPool(origin, this.#options);
  }
}

class OriginPool {
  readonly pool: Pool;
  readonly #queue: FairQueue;
  readonly #waiting: Quota;

  constructor(origin: string, options: HttpPoolsOptions) {
    const { connectionsMax = CONNECTIONS_MAX, waitingMax = WAITING_MAX, share = SHARE } = options;
    this.#queue = new FairQueue(new Quota(connectionsMax, share));
    this.#waiting = new Quota(waitingMax, share);
    this.pool = new Pool(origin, {
      connections: connectionsMax,
      pipelining: 1,
      connect: { timeout: options.connectMs ?? CONNECT_MS },
      maxHeaderSize: HEADER_BYTES_MAX,
      // The exchange keeps its own deadlines, by the clock that it is given.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  get isIdle(): boolean {
    return this.#queue.isIdle;
  }

  enter(organisationId: string): PoolPlace | undefined {
    const place = new Place(this.pool, organisationId, this.#queue, this.#waiting);
    return place.enter() ? place : undefined;
  }
}

class Place implements PoolPlace {
  readonly pool: Pool;
  readonly organisationId: string;
  free: Promise<void> | undefined;
  readonly #queue: FairQueue;
  readonly #waiting: Quota;
  #granted: (() => void) | undefined;
  #hasLeft = false;

  constructor(pool: Pool, organisationId: string, queue: FairQueue, waiting: Quota) {
    this.pool = pool;
    this.organisationId = organisationId;
    this.#queue = queue;
    this.#waiting = waiting;
  }

  /** False where it may not even wait. */
  enter(): boolean {
    if (this.#queue.enter(this)) return true;
    if (this.#waiting.take(this.organisationId) !== undefined) {
      this.#queue.leave(this);
      return false;
    }
    this.free = new Promise((resolve) => {
      this.#granted = resolve;
    });
    return true;
  }

  granted(): void {
    this.#waiting.giveBack(this.organisationId);
    this.#granted?.();
    this.#granted = undefined;
  }

  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (this.#granted !== undefined) this.#waiting.giveBack(this.organisationId);
    this.#queue.leave(this);
  }
}
