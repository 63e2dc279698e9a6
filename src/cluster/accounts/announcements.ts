// Who owns the accounts, as the owner says it itself. NATS gives requests to a frozen owner as well, until it notices that it is frozen;
// who has heard the next owner asks that one alone.
import type { Clock } from '../../../machines/clock.ts';
import { type Address, type Bus, type BusBody, BusError, type Detach } from '../bus/bus.ts';
import { ACCOUNTS_OPEN, ACCOUNTS_OWNED, type AccountsOpen } from '../bus/subjects.ts';

/** An owner says this often that it still answers. */
const OWNED_EVERY_MS = 1_000;
/** An owner that has said nothing for this long is not asked by its name any more once it has let a request wait. */
const OWNED_MS = 3 * OWNED_EVERY_MS;

/** Announces the owner at once and after each outage of its own, and repeats it for nodes that could not hear it then. */
export function announceOwner(options: { bus: Bus; clock: Clock; shard: string; revision: number }): Detach {
  const { bus, clock, shard, revision } = options;
  const say = (type: AccountsOpen['type']) => {
    const announcement: AccountsOpen = { type, shard, node: bus.node, revision };
    bus.publish(type, announcement);
  };
  let timer: unknown;
  const repeat = () => {
    timer = clock.setTimeout(() => {
      if (bus.isConnected) say(ACCOUNTS_OWNED);
      repeat();
    }, OWNED_EVERY_MS);
  };
  // While this node was disconnected, its announcements of changed keys were lost; other nodes may have stayed connected.
  const detach = bus.onConnection((isConnected) => {
    if (isConnected) say(ACCOUNTS_OPEN);
  });
  say(ACCOUNTS_OPEN);
  repeat();
  return () => {
    detach();
    clock.clearTimeout(timer);
  };
}

interface KnownOwner {
  node: string;
  revision: number;
  heardMs: number;
  /** Nothing was heard of it when it was asked last: whoever offers the service is asked instead. */
  isLost: boolean;
}

/** The owner of each shard, as it was heard. */
export class KnownOwners {
  readonly #bus: Bus;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #serviceOf: (shard: string) => string;
  readonly #onOther: () => void;
  /** By service. */
  readonly #known = new Map<string, KnownOwner>();
  readonly #detach: Detach[];

  /** `onOther`: another process than before owns the accounts of a shard. */
  constructor(options: { bus: Bus; clock: Pick<Clock, 'now'>; serviceOf(shard: string): string; onOther(): void }) {
    this.#bus = options.bus;
    this.#clock = options.clock;
    this.#serviceOf = options.serviceOf;
    this.#onOther = options.onOther;
    const hear = (body: BusBody) => this.#hear(body as AccountsOpen);
    this.#detach = [this.#bus.subscribe(ACCOUNTS_OPEN, hear), this.#bus.subscribe(ACCOUNTS_OWNED, hear)];
  }

  close(): void {
    for (const each of this.#detach) each();
  }

  /** Asks the owner that was heard; whoever offers the service where none was. Rejects with BusError. */
  async request(service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    const known = this.#known.get(service);
    if (known === undefined || known.isLost) return this.#bus.request(service, from, body, timeoutMs);
    try {
      return await this.#bus.requestOf(known.node, service, from, body, timeoutMs);
    } catch (error) {
      const isGone = error instanceof BusError && (error.reason === 'unknown_node' || error.reason === 'unknown_actor');
      const isSilent = this.#clock.now() - known.heardMs > OWNED_MS;
      if (isGone || isSilent) known.isLost = true;
      if (!isGone) throw error;
      return this.#bus.request(service, from, body, timeoutMs);
    }
  }

  #hear({ shard, node, revision }: AccountsOpen): void {
    if (typeof shard !== 'string') return;
    const service = this.#serviceOf(shard);
    const known = this.#known.get(service);
    if (typeof node !== 'string' || typeof revision !== 'number') {
      this.#known.delete(service);
      return;
    }
    // A former owner that runs again does not know yet that it is one.
    if (known !== undefined && !known.isLost && revision < known.revision) return;
    this.#known.set(service, { node, revision, heardMs: this.#clock.now(), isLost: false });
    if (known !== undefined && known.node !== node) this.#onOther();
  }
}
