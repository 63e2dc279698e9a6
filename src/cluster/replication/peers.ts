// What the replicas tell each other of how far they have come, and of the operations that they know: the one that has come furthest is to
// own the accounts next, and the owner uses only what all of them know.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus, BusBody, Detach } from '../bus/bus.ts';

const SAY_MS = 1_000;
/** What was said longer ago does not count: that replica may be gone. */
const HEARD_MS = 3_000;
const PEERS_MAX = 64;
/** A replica counts with its version for this long after it was heard: it may be back soon, as it was. */
const VERSION_KEPT_MS = 600_000;
/** Until the others have been heard of, or are not there. */
const VERSIONS_KNOWN_MS = 10_000;

interface Said extends BusBody {
  type: string;
  number: number;
  /** Of the operations that it knows; absent in earlier releases. */
  version?: number;
}

interface Heard {
  number: number;
  version: number;
  atMs: number;
}

export interface PeersOptions {
  bus: Pick<Bus, 'publish' | 'subscribe'>;
  clock: Clock;
  topic: string;
  /** The replica, as its operator calls it: the same after a restart. */
  node: string;
  /** Of the operations that this replica knows. */
  version: number;
  /** How many other replicas there are. */
  others: number;
}

export class Peers {
  readonly #options: PeersOptions;
  readonly #heard = new Map<string, Heard>();
  readonly #detach: Detach;
  readonly #sinceMs: number;
  #number = 0;
  #timer: unknown;
  #isClosed = false;

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#sinceMs = options.clock.now();
    this.#detach = options.bus.subscribe(options.topic, (body) =>
      this.#hear(body as Partial<Said> & { node?: unknown }),
    );
    this.#arm();
  }

  /** Tells the others now and then, not of each entry. */
  say(number: number): void {
    this.#number = number;
  }

  /** Whether another replica has lately had more entries. */
  isAhead(number: number): boolean {
    return this.#lately().some((each) => each > number);
  }

  /** Whether others have lately been heard, none of which had more entries. */
  isLevel(number: number): boolean {
    const lately = this.#lately();
    return lately.length > 0 && lately.every((each) => each <= number);
  }

  #lately(): number[] {
    const sinceMs = this.#options.clock.now() - HEARD_MS;
    return [...this.#heard.values()].filter(({ atMs }) => atMs >= sinceMs).map(({ number }) => number);
  }

  /** The newest version of which every replica knows the operations. */
  commonVersion(): number {
    const { clock, version, others } = this.#options;
    const nowMs = clock.now();
    const versions = this.#versions(nowMs - VERSION_KEPT_MS);
    if (versions.length < others && nowMs - this.#sinceMs < VERSIONS_KNOWN_MS) return 1;
    return Math.min(version, ...versions);
  }

  /** Replicas that do not know the operations of that version, as their operator calls them. */
  olderThan(version: number): string[] {
    const sinceMs = this.#options.clock.now() - VERSION_KEPT_MS;
    return [...this.#heard].filter(([, each]) => each.atMs >= sinceMs && each.version < version).map(([node]) => node);
  }

  #versions(sinceMs: number): number[] {
    return [...this.#heard.values()].filter(({ atMs }) => atMs >= sinceMs).map(({ version }) => version);
  }

  close(): void {
    this.#isClosed = true;
    this.#detach();
    this.#options.clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    const { clock, bus, topic, version, node } = this.#options;
    if (this.#isClosed) return;
    const said: Said & { node: string } = { type: topic, node, number: this.#number, version };
    bus.publish(topic, said);
    this.#timer = clock.setTimeout(() => this.#arm(), SAY_MS);
  }

  #hear({ node, number, version = 1 }: Partial<Said> & { node?: unknown }): void {
    if (typeof node !== 'string' || node === this.#options.node || !Number.isSafeInteger(number)) return;
    if (!Number.isSafeInteger(version)) return;
    if (this.#heard.size >= PEERS_MAX) this.#heard.clear();
    this.#heard.set(node, { number: number as number, version, atMs: this.#options.clock.now() });
  }
}
