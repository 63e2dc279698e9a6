// Nodes, their bus and their leases with a clock that the test moves: nodes are cut off, killed and frozen without a server.
import { SimulatedClock } from 'xstate';
import { type BusBody, BusError, type ServiceHandler } from '../../../src/cluster/bus/bus.ts';
import {
  type HeldLease,
  LEASE_MS,
  type Lease,
  type Leases,
  type LeaseTaken,
  type LeaseValue,
  RENEW_MS,
} from '../../../src/cluster/bus/leases.ts';
import type { MembershipOptions } from '../../../src/cluster/membership/membership.ts';

type Topics = Map<string, Set<(body: BusBody) => void>>;
export type SimulatedBus = MembershipOptions['bus'];

interface Kept {
  by: string;
  value: LeaseValue;
  revision: number;
  untilMs: number;
}

/** One server, on which every node is. */
export class SimulatedCluster {
  readonly clock = new SimulatedClock();
  /** Whether the server does anything; a connection to one that hangs looks whole. */
  isFrozen = false;
  /** Whether a message to that node is lost. */
  loses: ((topic: string, to: string) => boolean) | undefined;
  readonly kept = new Map<string, Kept>();
  readonly nodes = new Map<string, SimulatedNode>();
  private revisions = 0;
  /** What nodes received of others. */
  readonly received = { messages: 0, bytes: 0 };

  node(name: string): SimulatedNode {
    const node = new SimulatedNode(this, name);
    this.nodes.set(name, node);
    return node;
  }

  nextRevision(): number {
    return ++this.revisions;
  }

  publish(from: SimulatedNode, topic: string, body: BusBody): void {
    for (const node of this.nodes.values()) {
      if (node !== from && (this.isFrozen || node.isCut || from.isCut || this.loses?.(topic, node.name))) continue;
      if (node !== from) {
        this.received.messages++;
        this.received.bytes += JSON.stringify(body).length;
      }
      node.hear(topic, structuredClone(body));
    }
  }

  /** Moves the time in small steps; what is asynchronous keeps up. */
  async pass(ms: number): Promise<void> {
    for (let gone = 0; gone < ms; gone += 50) {
      this.clock.increment(Math.min(50, ms - gone));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

export class SimulatedNode {
  readonly name: string;
  readonly bus: SimulatedBus;
  readonly leases: Leases;
  /** Nothing goes in or out, and it knows. */
  isCut = false;
  private readonly topics: Topics = new Map();
  private readonly services = new Map<string, ServiceHandler>();
  private readonly listeners = new Set<(isConnected: boolean) => void>();
  private readonly cluster: SimulatedCluster;

  constructor(cluster: SimulatedCluster, name: string) {
    this.cluster = cluster;
    this.name = name;
    const isConnected = () => !this.isCut;
    this.bus = {
      node: name,
      get isConnected() {
        return isConnected();
      },
      onConnection: (listener) => {
        this.listeners.add(listener);
        return () => void this.listeners.delete(listener);
      },
      publish: (topic, body) => cluster.publish(this, topic, body),
      subscribe: (topic, receiver) => {
        const receivers = this.topics.get(topic) ?? new Set();
        this.topics.set(topic, receivers.add(receiver));
        return () => void receivers.delete(receiver);
      },
      address: (actorId) => `${name}/${actorId}`,
      serve: (service, handler) => {
        this.services.set(service, handler);
        return () => void this.services.delete(service);
      },
      requestOf: (node, service, from, body) => this.ask(node, service, from, body),
    };
    this.leases = {
      acquire: (name, value, onLost) => this.acquire(name, value, onLost),
      list: async (prefix) => this.list(prefix),
    };
  }

  hear(topic: string, body: BusBody): void {
    for (const receiver of [...(this.topics.get(topic) ?? [])]) receiver(body);
  }

  setCut(isCut: boolean): void {
    this.isCut = isCut;
    for (const listener of [...this.listeners]) listener(!isCut);
  }

  /** Ends it at once: it neither says nor hears anything again. */
  kill(): void {
    this.cluster.nodes.delete(this.name);
    this.topics.clear();
    this.isCut = true;
    this.listeners.clear();
  }

  private async ask(node: string, service: string, from: `${string}/${string}`, body: BusBody): Promise<BusBody> {
    const other = this.cluster.nodes.get(node);
    if (this.isCut || this.cluster.isFrozen) throw new BusError('disconnected', 'The test has cut it off.');
    const answer = other?.isCut === false ? other.services.get(service) : undefined;
    if (answer === undefined) throw new BusError('unknown_node', 'Nobody of that name is there.');
    return answer(structuredClone(body), from);
  }

  private list(prefix: string): HeldLease[] {
    const { clock, kept } = this.cluster;
    return [...kept]
      .filter(([name, { untilMs }]) => name.startsWith(prefix) && untilMs > clock.now())
      .map(([name, { value, revision }]) => ({ name, value, revision }));
  }

  private async acquire(name: string, value: LeaseValue, onLost: () => void): Promise<Lease | LeaseTaken> {
    const { clock, kept } = this.cluster;
    if (this.isCut || this.cluster.isFrozen) throw new BusError('disconnected', 'The test has cut it off.');
    const found = kept.get(name);
    if (found !== undefined && found.untilMs > clock.now()) return { heldBy: found.value };
    const revision = this.cluster.nextRevision();
    const own: Kept = { by: this.name, value, revision, untilMs: clock.now() + LEASE_MS };
    kept.set(name, own);
    let validUntilMs = clock.now() + LEASE_MS - 2000;
    let isEnded = false;
    const renew = () => {
      if (isEnded) return;
      const canRenew = !this.isCut && !this.cluster.isFrozen;
      const isTakenAway = canRenew && kept.get(name) !== own;
      if (isTakenAway || clock.now() >= validUntilMs) {
        isEnded = true;
        if (this.cluster.nodes.get(this.name) === this) onLost();
        return;
      }
      if (canRenew) {
        own.untilMs = clock.now() + LEASE_MS;
        validUntilMs = own.untilMs - 2000;
      }
      clock.setTimeout(renew, canRenew ? RENEW_MS : 500);
    };
    clock.setTimeout(renew, RENEW_MS);
    return {
      name,
      revision,
      get isValid() {
        return !isEnded && clock.now() < validUntilMs;
      },
      update: (next) => {
        own.value = next;
      },
      release: async () => {
        if (!isEnded && kept.get(name) === own) kept.delete(name);
        isEnded = true;
      },
    };
  }
}
