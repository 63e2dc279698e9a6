// Gossip of rate limits: an edge reports the requests and tokens that keys used there to the edges that use the same keys, and to
// all edges when it begins to use a key and once a noticeable part of a limit is used. Until then a full bucket is nearly right.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus, BusBody, Detach } from '../bus/bus.ts';
import { RATES_ACTOR, RATES_TAKEN } from '../bus/subjects.ts';
import type { LimitsMessages, RateKind, RateTaken } from './messages.ts';

/** Use within this time goes into one message. */
const TOGETHER_MS = 250;
/** Use below the part that matters waits up to this long for more. */
const WITHHELD_MS_MAX = 2_000;
/** The part of a limit that all edges together may withhold, and the used part that every edge has to know of. */
const PART = 1 / 8;
const MINUTE_MS = 60_000;
const IN_MESSAGE_MAX = 1_000;
/** Nodes of which the last message is remembered. */
const NODES_MAX = 1_000;

export interface OtherEdge {
  node: string;
  /** Of a version that expects the use of all keys. */
  isEarlier: boolean;
}

/** The counts of this node. */
interface RateCounts {
  /** Counts use on another node, which knows of at least `used` in all. */
  charge(taken: RateTaken, used: number): void;
  /** Milliseconds until the whole limit is there again. */
  missingMs(kind: RateKind, keyId: string): number;
}

interface RateGossipOptions {
  bus: Pick<Bus, 'node' | 'isConnected' | 'address' | 'attach' | 'send' | 'publish' | 'subscribe' | 'onConnection'>;
  clock: Clock;
  messages: LimitsMessages;
  /** Nodes that serve clients, this one included. A node that is alone sends nothing. */
  edges(): number;
  others(): readonly OtherEdge[];
}

export class RateGossip {
  /** Messages that were malformed or came again. */
  ignored = 0;
  readonly #options: RateGossipOptions;
  readonly #keys = new KeysInUse();
  /** Nodes that have just begun to use keys that are in use here, and have to know how much of them is used. */
  readonly #newcomers = new Map<string, Set<KeyUse>>();
  /** The newest message of each node, the oldest entry first. */
  readonly #heard = new Map<string, number>();
  readonly #detach: Detach[];
  #sequence = 0;
  #timer: unknown;
  #counts: RateCounts = { charge: () => {}, missingMs: () => 0 };

  constructor(options: RateGossipOptions) {
    const { bus } = options;
    this.#options = options;
    this.#detach = [
      bus.subscribe(RATES_TAKEN, (body) => this.#receive(body, 'all')),
      bus.attach(RATES_ACTOR, ({ body }) => this.#receive(body, 'one')),
      bus.onConnection(() => this.#keys.announceAgain()),
    ];
  }

  /** Use that was not reported because too many keys were in use. */
  get untold(): number {
    return this.#keys.refused;
  }

  /** Called once, with the counts that gossip is about. */
  serve(counts: RateCounts): void {
    this.#counts = counts;
  }

  /** A key used one here, of `max` a minute. */
  took(kind: RateKind, keyId: string, max: number): void {
    const { bus, clock, edges } = this.#options;
    if (edges() < 2 || !bus.isConnected) return;
    if (this.#keys.add(kind, keyId, max, clock.now())) this.#reportSoon();
  }

  close(): void {
    this.#options.clock.clearTimeout(this.#timer);
    for (const detach of this.#detach) detach();
  }

  #reportSoon(): void {
    this.#timer ??= this.#options.clock.setTimeout(() => this.#report(), TOGETHER_MS);
  }

  #report(): void {
    this.#timer = undefined;
    const others = this.#options.others();
    const hasEarlier = others.some(({ isEarlier }) => isEarlier);
    const toAll: KeyUse[] = [];
    const toOne = new Map(this.#newcomers);
    this.#newcomers.clear();
    const nowMs = this.#options.clock.now();
    const waiting = this.#keys.waiting();
    const reported = waiting.filter((use) => {
      const isAnnounced = this.#keys.isAnnounced(use, nowMs);
      if (isAnnounced && !hasEarlier && !isDue(use, others.length + 1, nowMs)) return false;
      const sharers = others.filter(({ node }) => this.#keys.isShared(use, node, nowMs));
      const isNoticeable = this.#counts.missingMs(use.kind, use.keyId) >= PART * MINUTE_MS;
      // One message to all costs less than one to most.
      if (!isAnnounced || hasEarlier || isNoticeable || sharers.length > others.length / 2) toAll.push(use);
      else for (const { node } of sharers) toOne.set(node, (toOne.get(node) ?? new Set()).add(use));
      return true;
    });
    for (const use of toAll) use.announcedAtMs = nowMs;
    this.#send(toAll, (body) => this.#options.bus.publish(RATES_TAKEN, body));
    const earlier = new Set(others.filter(({ isEarlier }) => isEarlier).map(({ node }) => node));
    for (const [node, uses] of toOne) {
      const send = (body: BusBody) =>
        this.#options.bus.send(`${node}/${RATES_ACTOR}`, this.#options.bus.address(RATES_ACTOR), body);
      if (!earlier.has(node)) this.#send([...uses], send);
    }
    for (const use of reported) this.#keys.reported(use);
    if (reported.length < waiting.length) this.#reportSoon();
  }

  #send(uses: readonly KeyUse[], send: (body: BusBody) => void): void {
    const { bus, messages } = this.#options;
    for (let at = 0; at < uses.length; at += IN_MESSAGE_MAX) {
      const some = uses.slice(at, at + IN_MESSAGE_MAX);
      const taken = some.map(({ kind, keyId, count, max }): RateTaken => [kind, keyId, count, max]);
      const used = some.map((use) => this.#usedOf(use));
      send(messages.taken(bus.node, ++this.#sequence, taken, used));
    }
  }

  #usedOf({ kind, keyId, max }: KeyUse): number {
    return Math.round((this.#counts.missingMs(kind, keyId) * max) / MINUTE_MS);
  }

  #receive(body: BusBody, to: 'all' | 'one'): void {
    const { bus, clock, messages } = this.#options;
    const message = messages.readTaken(body);
    if (message?.node === bus.node) return;
    if (message === undefined || !this.#isNew(`${message.node} ${to}`, message.sequence)) {
      this.ignored++;
      return;
    }
    const { node, taken, used } = message;
    for (const [index, each] of taken.entries()) {
      this.#counts.charge(each, used[index] ?? 0);
      const [kind, keyId] = each;
      const use = this.#keys.heard(node, kind, keyId, clock.now());
      // A node that reports to this one alone knows of it.
      if (use === undefined || to === 'one') continue;
      this.#newcomers.set(node, (this.#newcomers.get(node) ?? new Set()).add(use));
      this.#reportSoon();
    }
  }

  #isNew(name: string, sequence: number): boolean {
    const last = this.#heard.get(name) ?? 0;
    if (sequence <= last) return false;
    this.#heard.delete(name);
    this.#heard.set(name, sequence);
    const [oldest] = this.#heard.keys();
    if (this.#heard.size > 2 * NODES_MAX && oldest !== undefined) this.#heard.delete(oldest);
    return true;
  }
}

/** Whether all edges could withhold too much of the limit if this one waited for more use. */
function isDue({ count, max, sinceMs }: KeyUse, edges: number, nowMs: number): boolean {
  return count * edges >= max * PART || nowMs - sinceMs >= WITHHELD_MS_MAX;
}

/** Beyond it the longest idle key makes room; use of a key without room is not reported, but counted as a metric. */
const KEYS_MAX = 10_000;
/** A key in use is announced to all nodes this often, since a message may be lost. */
const ANNOUNCE_MS = 30_000;
/** A node that did not report a key for this long does not use it any more. */
const SHARED_MS = 3 * ANNOUNCE_MS;

interface KeyUse {
  readonly kind: RateKind;
  readonly keyId: string;
  /** Use that was not reported yet, and since when. */
  count: number;
  sinceMs: number;
  /** The limit per minute. */
  max: number;
  usedAtMs: number;
  announcedAtMs: number;
  /** When other nodes last reported use of the key. */
  readonly sharers: Map<string, number>;
}

/** The keys that clients use at this node, their use that was not reported yet, and which other nodes use them too. */
class KeysInUse {
  /** Use without room. */
  refused = 0;
  /** The longest idle key first. */
  readonly #uses = new Map<string, KeyUse>();
  readonly #waiting = new Set<KeyUse>();

  /** One use here, of `max` a minute. Returns false when there is no room to remember it. */
  add(kind: RateKind, keyId: string, max: number, nowMs: number): boolean {
    const name = `${kind} ${keyId}`;
    const use = this.#uses.get(name) ?? newUse(kind, keyId);
    if (!this.#uses.delete(name) && !this.#makeRoom()) {
      this.refused++;
      return false;
    }
    this.#uses.set(name, use);
    this.#waiting.add(use);
    if (use.count === 0) use.sinceMs = nowMs;
    use.count++;
    use.max = max;
    use.usedAtMs = nowMs;
    return true;
  }

  /** Keys with use that was not reported yet. */
  waiting(): KeyUse[] {
    return [...this.#waiting];
  }

  reported(use: KeyUse): void {
    use.count = 0;
    this.#waiting.delete(use);
  }

  isAnnounced({ announcedAtMs }: KeyUse, nowMs: number): boolean {
    return nowMs - announcedAtMs < ANNOUNCE_MS;
  }

  /** Messages may have been lost: announces every key with its next use. */
  announceAgain(): void {
    for (const use of this.#uses.values()) use.announcedAtMs = Number.NEGATIVE_INFINITY;
  }

  isShared({ sharers }: KeyUse, node: string, nowMs: number): boolean {
    return nowMs - (sharers.get(node) ?? Number.NEGATIVE_INFINITY) < SHARED_MS;
  }

  /** Another node reported use of a key. Returns the use of the key here if this is news about a key that is in use here. */
  heard(node: string, kind: RateKind, keyId: string, nowMs: number): KeyUse | undefined {
    const use = this.#uses.get(`${kind} ${keyId}`);
    if (use === undefined || nowMs - use.usedAtMs >= SHARED_MS) return undefined;
    const isNews = !this.isShared(use, node, nowMs);
    if (isNews)
      for (const other of [...use.sharers.keys()]) if (!this.isShared(use, other, nowMs)) use.sharers.delete(other);
    use.sharers.set(node, nowMs);
    return isNews ? use : undefined;
  }

  #makeRoom(): boolean {
    const [oldest] = this.#uses;
    if (this.#uses.size < KEYS_MAX || oldest === undefined) return true;
    return oldest[1].count === 0 && this.#uses.delete(oldest[0]);
  }
}

const newUse = (kind: RateKind, keyId: string): KeyUse => ({
  kind,
  keyId,
  count: 0,
  sinceMs: 0,
  max: 1,
  usedAtMs: 0,
  announcedAtMs: Number.NEGATIVE_INFINITY,
  sharers: new Map(),
});
