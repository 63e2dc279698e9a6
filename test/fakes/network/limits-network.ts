// Nodes that count sessions together, in one process: what they say waits until the test lets it arrive, in the order of each pair
// of nodes and in any order between pairs. Nodes are cut off and mended.
import { SimulatedClock } from 'xstate';
import {
  type Address,
  type Bus,
  type BusBody,
  BusError,
  type Detach,
  type Receiver,
  type SendOutcome,
} from '../../../src/cluster/bus/bus.ts';
import type { OtherEdge } from '../../../src/cluster/limits/gossip.ts';
import { type ClusterLimits, openClusterLimits } from '../../../src/cluster/limits/limits.ts';
import { LimitsMessages } from '../../../src/cluster/limits/messages.ts';
import { type ServedPlaces, serveSlots } from '../../../src/cluster/limits/slots-service.ts';
import { type Random, seeded } from '../random.ts';

type LimitsBus = Pick<
  Bus,
  | 'node'
  | 'address'
  | 'isConnected'
  | 'onConnection'
  | 'serve'
  | 'request'
  | 'publish'
  | 'subscribe'
  | 'attach'
  | 'send'
>;

export const messages = new LimitsMessages({ secret: Buffer.from('a secret of the limits of the tests') });

export class LimitsNetwork {
  readonly clock = new SimulatedClock();
  readonly nodes = new Map<string, LimitsNode>();
  /** What is on its way, by sender and receiver. */
  private readonly channels = new Map<string, (() => void)[]>();
  private readonly random: Random;
  /** Nodes as the membership sees them. */
  edges = 0;
  readonly nodeListeners = new Set<() => void>();

  constructor(random: Random = seeded(1)) {
    this.random = random;
  }

  open(node: string): LimitsNode {
    const opened = new LimitsNode(node, this);
    this.nodes.set(node, opened);
    this.edges++;
    this.tellNodes();
    return opened;
  }

  /** The other nodes as the membership sees them. */
  othersOf(node: LimitsNode): OtherEdge[] {
    const others = [...this.nodes.values()].filter((each) => each !== node);
    return others.map(({ name, isEarlier }) => ({ node: name, isEarlier }));
  }

  /** The node that counts from now on; nobody did, or the one before does no more. */
  own(node: LimitsNode): ServedPlaces {
    for (const each of this.nodes.values()) each.retire();
    node.served = serveSlots({ bus: node.bus as unknown as Bus, clock: this.clock, messages });
    return node.served;
  }

  tellNodes(): void {
    for (const listener of [...this.nodeListeners]) listener();
  }

  /** What nodes sent to others. */
  readonly sent = { messages: 0, bytes: 0 };
  /** Whether a message is lost. */
  loses: ((from: string, to: string) => boolean) | undefined;

  count(from: string, to: string, body: BusBody): void {
    if (from === to) return;
    this.sent.messages++;
    this.sent.bytes += JSON.stringify(body).length;
  }

  put(from: string, to: string, deliver: () => void): void {
    if (this.loses?.(from, to) === true) return;
    const name = `${from} ${to}`;
    const channel = this.channels.get(name) ?? [];
    channel.push(deliver);
    this.channels.set(name, channel);
  }

  /** One message arrives. */
  step(): boolean {
    const channels = [...this.channels.values()].filter((channel) => channel.length > 0);
    if (channels.length === 0) return false;
    this.random.pick(channels).shift()?.();
    return true;
  }

  /** Everything arrives, and what is said to it. */
  async settle(): Promise<void> {
    do await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.step());
  }

  /** Time passes, while everything arrives. */
  async pass(ms: number): Promise<void> {
    const steps = 10;
    for (let step = 0; step < steps; step++) {
      this.clock.increment(ms / steps);
      await this.settle();
    }
  }
}

export class LimitsNode {
  readonly name: string;
  readonly bus: LimitsBus;
  readonly limits: ReturnType<typeof openClusterLimits>;
  served: ServedPlaces | undefined;
  /** It takes messages, and does nothing. */
  isFrozen = false;
  isConnected = true;
  /** The other nodes take it for one of an earlier version. */
  isEarlier = false;
  /** It knows that the counting node does not answer. */
  isCounterAway = false;
  readonly handlers = new Map<string, (body: BusBody, from: Address) => BusBody | Promise<BusBody>>();
  readonly actors = new Map<string, Receiver>();
  readonly topics: [string, (body: BusBody) => void][] = [];
  private readonly network: LimitsNetwork;
  private readonly listeners: ((isConnected: boolean) => void)[] = [];

  constructor(name: string, network: LimitsNetwork) {
    this.name = name;
    this.network = network;
    this.bus = this.busOf();
    const { clock } = network;
    const onNodes = (listener: () => void) => {
      network.nodeListeners.add(listener);
      return () => void network.nodeListeners.delete(listener);
    };
    this.limits = openClusterLimits({
      bus: this.bus as Bus,
      clock,
      messages,
      edges: () => network.edges,
      others: () => network.othersOf(this),
      onNodes,
      isCounterAway: () => this.isCounterAway,
    });
  }

  get shared(): ClusterLimits {
    return this.limits;
  }

  connect(isConnected: boolean): void {
    this.isConnected = isConnected;
    for (const listener of [...this.listeners]) listener(isConnected);
  }

  freeze(isFrozen: boolean): void {
    this.isFrozen = isFrozen;
  }

  retire(): void {
    this.served?.close();
    this.served = undefined;
  }

  /** Killed. */
  end(): void {
    this.retire();
    this.isConnected = false;
    this.limits.close();
    this.network.nodes.delete(this.name);
    this.network.edges--;
    this.network.tellNodes();
  }

  private busOf(): LimitsBus {
    const self = this;
    const remove = <Entry>(list: Entry[], entry: Entry): Detach => {
      return () => void list.splice(list.indexOf(entry), 1);
    };
    return {
      node: this.name,
      get isConnected() {
        return self.isConnected;
      },
      address: (actor) => `${this.name}/${actor}`,
      onConnection(listener) {
        self.listeners.push(listener);
        return remove(self.listeners, listener);
      },
      serve(service, handler) {
        self.handlers.set(service, handler);
        return () => void self.handlers.delete(service);
      },
      subscribe(topic, receiver) {
        const entry: [string, (body: BusBody) => void] = [topic, receiver];
        self.topics.push(entry);
        return remove(self.topics, entry);
      },
      publish: (topic, body) => this.publish(topic, body),
      attach(actor, receiver) {
        self.actors.set(actor, receiver);
        return () => void self.actors.delete(actor);
      },
      send: (to, from, body) => this.send(to, from, body),
      request: (service, from, body, timeoutMs) => this.request(service, from, body, timeoutMs),
    };
  }

  private send(to: Address, from: Address, body: BusBody): SendOutcome {
    const [name = '', actor = ''] = to.split('/');
    const node = this.network.nodes.get(name);
    const copy = structuredClone(body);
    this.network.count(this.name, name, body);
    if (this.isConnected) {
      this.network.put(this.name, name, () => {
        if (node?.isConnected && !node.isFrozen) node.actors.get(actor)?.({ to, from, body: copy });
      });
    }
    return this.isConnected ? 'accepted' : 'disconnected';
  }

  private publish(topic: string, body: BusBody): void {
    const copy = structuredClone(body);
    for (const node of this.network.nodes.values()) {
      if (node !== this) this.network.count(this.name, node.name, body);
      const tell = () => {
        for (const [name, receiver] of [...node.topics]) if (name === topic) receiver(copy);
      };
      if (node === this) tell();
      else if (this.isConnected) {
        this.network.put(this.name, node.name, () => {
          if (node.isConnected && !node.isFrozen) tell();
        });
      }
    }
  }

  private async request(service: string, from: Address, body: BusBody, timeoutMs: number): Promise<BusBody> {
    const near = this.handlers.get(service);
    if (near !== undefined) return near(structuredClone(body), from);
    if (!this.isConnected) throw new BusError('disconnected', 'The bus is away.');
    const { clock, nodes } = this.network;
    const other = [...nodes.values()].find((node) => node.handlers.has(service) && node.isConnected);
    if (other === undefined) throw new BusError('unknown_actor', 'Nobody serves it.');
    return new Promise((resolve, reject) => {
      const timer = clock.setTimeout(() => reject(new BusError('timeout', 'No answer came.')), timeoutMs);
      this.network.put(this.name, other.name, async () => {
        const handler = other.handlers.get(service);
        if (!other.isConnected || other.isFrozen || handler === undefined) return;
        const answer = await Promise.resolve()
          .then(() => handler(structuredClone(body), from))
          .catch((error: unknown) => new BusError('handler_failed', String(error)));
        this.network.put(other.name, this.name, () => {
          if (!this.isConnected || !other.isConnected) return;
          clock.clearTimeout(timer);
          if (answer instanceof BusError) reject(answer);
          else resolve(structuredClone(answer));
        });
      });
    });
  }
}
