// Several nodes' buses in one process, under the clock of a test, over a network that may lose, repeat, swap and hold letters,
// and be cut. What is said over it is not known here.
import type { Clock } from '../../../machines/clock.ts';
import {
  type Address,
  type Bus,
  type BusBody,
  BusError,
  type DeadLetterReason,
  type Detach,
  type Receiver,
  type SendOutcome,
  type ServiceHandler,
  type Undelivered,
} from '../../../src/cluster/bus/bus.ts';
import { MemoryBus } from '../../../src/cluster/bus/memory.ts';
import type { Random } from '../random.ts';

/** Shares of the letters between nodes, 0 to 1. */
export interface NetworkFaults {
  drop: number;
  duplicate: number;
  swap: number;
}

const NO_FAULTS: NetworkFaults = { drop: 0, duplicate: 0, swap: 0 };

export class BusNetwork {
  readonly clock: Clock;
  readonly nodes = new Map<string, NetworkBus>();
  faults: NetworkFaults = NO_FAULTS;
  /** What went between nodes, how much of it was several letters, and what became of it. */
  readonly counts = { letters: 0, batches: 0, dropped: 0, duplicated: 0, swapped: 0 };
  private readonly random: Random | undefined;
  /** Letters that wait while the network is frozen. */
  private frozen: (() => void)[] | undefined;
  private swapped: (() => void) | undefined;

  constructor(clock: Clock, random?: Random) {
    this.clock = clock;
    this.random = random;
  }

  open(node: string): NetworkBus {
    const bus = new NetworkBus(node, this);
    this.nodes.set(node, bus);
    return bus;
  }

  heal(): void {
    this.faults = NO_FAULTS;
    this.swapped?.();
    this.swapped = undefined;
  }

  /** Takes letters and delivers none. */
  freeze(): void {
    this.frozen ??= [];
  }

  /** Delivers what has waited, or forgets it. */
  thaw(deliver = true): void {
    const waiting = this.frozen ?? [];
    this.frozen = undefined;
    if (deliver) for (const letter of waiting) queueMicrotask(letter);
  }

  /** The node is gone at a stroke: nothing of it is told anybody but by who writes to it. */
  kill(node: string): void {
    this.nodes.get(node)?.die();
    this.nodes.delete(node);
  }

  /** Carries something between two nodes, with the faults of now. */
  carry(deliver: () => void): void {
    this.counts.letters++;
    const { drop, duplicate, swap } = this.faults;
    const chance = this.random?.next() ?? 0;
    if (chance < drop) {
      this.counts.dropped++;
      return;
    }
    const earlier = this.swapped;
    this.swapped = undefined;
    if (chance >= drop && chance < drop + swap && earlier === undefined) {
      this.counts.swapped++;
      this.swapped = deliver;
      return;
    }
    this.pass(deliver);
    if (chance >= drop + swap && chance < drop + swap + duplicate) {
      this.counts.duplicated++;
      this.pass(deliver);
    }
    if (earlier !== undefined) this.pass(earlier);
  }

  /** Tells every other node that can be reached. */
  spread(from: string, tell: (other: NetworkBus) => void): void {
    for (const other of this.nodes.values()) if (other.node !== from && other.isConnected) this.pass(() => tell(other));
  }

  private pass(deliver: () => void): void {
    if (this.frozen === undefined) queueMicrotask(deliver);
    else this.frozen.push(deliver);
  }
}

export class NetworkBus implements Bus {
  readonly node: string;
  isConnected = true;
  private readonly network: BusNetwork;
  private readonly near: MemoryBus;
  private readonly services = new Set<string>();
  private readonly undelivered = new Map<string, Undelivered>();
  private readonly listeners = new Set<(isConnected: boolean) => void>();
  /** Written and not yet under way, by node. */
  private readonly batches = new Map<string, (() => void)[]>();
  private dead = false;

  constructor(node: string, network: BusNetwork) {
    this.node = node;
    this.network = network;
    this.near = new MemoryBus({ node });
  }

  get deadLetters(): MemoryBus['deadLetters'] {
    return this.near.deadLetters;
  }

  /** What the fakes of sessions count. */
  get actors(): number {
    return this.near.actors;
  }

  cut(): void {
    this.connected(false);
  }

  mend(): void {
    this.connected(true);
  }

  die(): void {
    this.dead = true;
    this.isConnected = false;
  }

  onConnection(listener: (isConnected: boolean) => void): Detach {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  attach(actorId: string, receiver: Receiver, undelivered?: Undelivered): Detach {
    const detach = this.near.attach(actorId, receiver);
    if (undelivered !== undefined) this.undelivered.set(actorId, undelivered);
    return () => {
      detach();
      this.undelivered.delete(actorId);
    };
  }

  address(actorId: string): Address {
    return this.near.address(actorId);
  }

  /** Letters to one node that are written in one go travel together: they are lost, repeated, swapped and held together. */
  send(to: Address, from: Address, body: BusBody, bytes?: Uint8Array): SendOutcome {
    if (to.startsWith(`${this.node}/`)) return this.near.send(to, from, body, bytes);
    if (!this.isConnected) return 'disconnected';
    const text = JSON.stringify(body);
    const copy = bytes?.slice();
    const node = to.slice(0, to.indexOf('/'));
    if (this.batches.size === 0) queueMicrotask(() => this.post());
    const batch = this.batches.get(node) ?? [];
    this.batches.set(node, batch);
    batch.push(() => {
      const other = this.network.nodes.get(node);
      const reason = other === undefined ? 'unknown_node' : other.take(to, from, JSON.parse(text), copy?.slice());
      const back = this.undelivered.get(from.slice(from.indexOf('/') + 1));
      if (reason !== undefined && !this.dead && this.isConnected) back?.(to, body.type, reason);
    });
    return 'accepted';
  }

  /** What was written leaves. */
  private post(): void {
    const batches = [...this.batches.values()];
    this.batches.clear();
    for (const letters of batches) {
      if (letters.length > 1) this.network.counts.batches++;
      this.network.carry(() => {
        for (const deliver of letters) deliver();
      });
    }
  }

  /** Undefined when it was delivered, or when nobody can know. */
  take(to: Address, from: Address, body: BusBody, bytes: Uint8Array | undefined): DeadLetterReason | undefined {
    if (!this.isConnected) return undefined;
    const outcome = this.near.send(to, from, body, bytes);
    return outcome === 'accepted' ? undefined : outcome;
  }

  serve(service: string, handler: ServiceHandler): Detach {
    const detach = this.near.serve(service, handler);
    this.services.add(service);
    return () => {
      detach();
      this.services.delete(service);
    };
  }

  serveLocal(service: string, handler: ServiceHandler): Detach {
    return this.near.serve(service, handler);
  }

  request(service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    if (this.near.serves(service)) return this.near.request(service, from, body, timeoutMs);
    const serving = [...this.network.nodes.values()].filter((bus) => bus.services.has(service) && bus.isConnected);
    // The next request goes to the next of those that offer the service.
    const [first] = serving;
    if (first !== undefined) {
      this.network.nodes.delete(first.node);
      this.network.nodes.set(first.node, first);
    }
    return this.ask(first, service, from, body, timeoutMs);
  }

  requestOf(node: string, service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    if (node === this.node) return this.near.requestOf(node, service, from, body, timeoutMs);
    const other = this.network.nodes.get(node);
    if (this.isConnected && other?.isConnected !== true)
      return Promise.reject(new BusError('unknown_node', 'There is no such node.'));
    return this.ask(other?.services.has(service) ? other : undefined, service, from, body, timeoutMs);
  }

  publish(topic: string, body: BusBody): void {
    this.near.publish(topic, body);
    if (this.isConnected) this.network.spread(this.node, (other) => other.near.publish(topic, body));
  }

  subscribe(topic: string, receiver: (body: BusBody) => void): Detach {
    return this.near.subscribe(topic, receiver);
  }

  close(): Promise<void> {
    return this.near.close();
  }

  private ask(
    other: NetworkBus | undefined,
    service: string,
    from: Address,
    body: BusBody,
    timeoutMs: number,
  ): Promise<BusBody> {
    const { clock } = this.network;
    if (!this.isConnected) return Promise.reject(new BusError('disconnected', 'The bus is away.'));
    if (other === undefined) return Promise.reject(new BusError('unknown_actor', 'Nobody serves it.'));
    return new Promise((resolve, reject) => {
      const timer = clock.setTimeout(() => reject(new BusError('timeout', 'No answer came.')), timeoutMs);
      const answer = (tell: () => void) => () => {
        if (other.dead || !this.isConnected) return;
        clock.clearTimeout(timer);
        tell();
      };
      const text = JSON.stringify(body);
      this.post();
      this.network.carry(() => {
        if (!other.isConnected) return;
        other.near.request(service, from, JSON.parse(text), timeoutMs).then(
          (given) => this.network.carry(answer(() => resolve(given))),
          (error) => this.network.carry(answer(() => reject(new BusError('handler_failed', String(error))))),
        );
      });
    });
  }

  private connected(isConnected: boolean): void {
    if (this.isConnected === isConnected || this.dead) return;
    this.isConnected = isConnected;
    for (const listener of [...this.listeners]) listener(isConnected);
  }
}
