// Announcements of the node that owns the accounts. NATS keeps sending requests to a frozen owner until its connection times out, so nodes
// address the announced owner directly.
import type { Clock } from '../../../machines/clock.ts';
import { type Address, type Bus, type BusBody, BusError, type Detach } from '../bus/bus.ts';
import { ACCOUNTS_OPEN, ACCOUNTS_OWNED, type AccountsOpen } from '../bus/subjects.ts';

const ANNOUNCE_EVERY_MS = 1_000;
/** An owner whose request timed out is addressed directly only if it has announced itself within this time. */
const SILENT_MS = 3 * ANNOUNCE_EVERY_MS;

/** Announces the owner now, after each reconnect, and every second for nodes that missed it. */
export function announceOwner(options: { bus: Bus; clock: Clock; shard: string; revision: number }): Detach {
  const { bus, clock, shard, revision } = options;
  const announce = (type: AccountsOpen['type']) => {
    const announcement: AccountsOpen = { type, shard, node: bus.node, revision };
    bus.publish(type, announcement);
  };
  let timer: unknown;
  const repeat = () => {
    timer = clock.setTimeout(() => {
      if (bus.isConnected) announce(ACCOUNTS_OWNED);
      repeat();
    }, ANNOUNCE_EVERY_MS);
  };
  // While this node was disconnected, its announcements of changed keys were lost; other nodes may have stayed connected.
  const detach = bus.onConnection((isConnected) => {
    if (isConnected) announce(ACCOUNTS_OPEN);
  });
  announce(ACCOUNTS_OPEN);
  repeat();
  return () => {
    detach();
    clock.clearTimeout(timer);
  };
}

interface KnownOwner {
  node: string;
  revision: number;
  announcedMs: number;
  /** Requests go to any node that serves the accounts until the next announcement. */
  isLost: boolean;
}

export interface KnownOwnersOptions {
  bus: Bus;
  clock: Pick<Clock, 'now'>;
  serviceOf(shard: string): string;
  /** An owner has begun, or was disconnected. */
  onOpen(): void;
  /** Another node than before owns the accounts of a shard. */
  onChange(): void;
}

/** The owner of each shard, as it was announced. */
export class KnownOwners {
  readonly #options: KnownOwnersOptions;
  /** By service. */
  readonly #known = new Map<string, KnownOwner>();

  constructor(options: KnownOwnersOptions) {
    this.#options = options;
    const { bus, onOpen } = options;
    const announced = (body: BusBody) => this.#announced(body as AccountsOpen);
    bus.subscribe(ACCOUNTS_OPEN, (body) => {
      announced(body);
      onOpen();
    });
    bus.subscribe(ACCOUNTS_OWNED, announced);
  }

  /** Sends the request to the known owner, otherwise to any node that serves the accounts. Rejects with BusError. */
  async request(service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    const { bus, clock } = this.#options;
    const known = this.#known.get(service);
    if (known === undefined || known.isLost) return bus.request(service, from, body, timeoutMs);
    try {
      return await bus.requestOf(known.node, service, from, body, timeoutMs);
    } catch (error) {
      const isGone = error instanceof BusError && (error.reason === 'unknown_node' || error.reason === 'unknown_actor');
      if (isGone || clock.now() - known.announcedMs > SILENT_MS) known.isLost = true;
      if (!isGone) throw error;
      return bus.request(service, from, body, timeoutMs);
    }
  }

  /** That node owns the accounts, by its announcement or its own answer. */
  found(service: string, node: string, revision: number): void {
    const known = this.#known.get(service);
    // A former owner that was frozen announces itself until it notices that it lost the accounts.
    if (known !== undefined && !known.isLost && revision < known.revision) return;
    this.#known.set(service, { node, revision, announcedMs: this.#options.clock.now(), isLost: false });
    if (known !== undefined && known.node !== node) this.#options.onChange();
  }

  #announced({ shard, node, revision }: AccountsOpen): void {
    if (typeof shard !== 'string') return;
    const service = this.#options.serviceOf(shard);
    if (typeof node === 'string' && typeof revision === 'number') this.found(service, node, revision);
    else this.#known.delete(service);
  }
}
