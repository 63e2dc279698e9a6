// A rig whose sessions are on one node and whose legs are on others, over a network that a test can make fail.
import { SimulatedClock } from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import type { Heartbeat, ShortOf } from '../../src/cluster/membership/heartbeat.ts';
import { type Placement, upstreamPlacement } from '../../src/cluster/placement.ts';
import type { UpstreamDependencies } from '../../src/live/upstream/leg-connection.ts';
import { DialHealth, LegService } from '../../src/live/upstream/service/leg-service.ts';
import { UpstreamHost } from '../../src/live/upstream/upstream-host.ts';
import { BusNetwork, type NetworkBus } from './network/bus-network.ts';
import type { Random } from './random.ts';
import { type RigOptions, SessionRig } from './session-rig.ts';

export interface FarNode {
  bus: NetworkBus;
  upstream: UpstreamHost;
  legs: LegService;
  health: DialHealth;
  /** What it has too little of for legs of others. */
  shortOf: ShortOf | undefined;
  /** What it can dial with a customer's own key, and with the service's credential. */
  providers: string[];
  credentials: string[];
  /** Whether the others know that it takes nothing new. */
  isDraining: boolean;
  /** What it said last. */
  beat: Heartbeat;
}

export interface FarRigOptions extends RigOptions {
  nodes?: number;
  random?: Random;
  /** Whether the session's node knows what the others say of themselves, and chooses among them; else whoever answers is asked. */
  placed?: boolean;
  /** How a node reaches its providers, by its place among them; absent: as the rig does. */
  dialAccessOf?: (node: number) => UpstreamDependencies['access'] | undefined;
  /** What a node has in its configuration, whatever it says of itself; absent: all that the rig has. */
  providersOf?: (node: number) => UpstreamDependencies['providers'] | undefined;
}

const LISTED = { providers: ['loopback', 'puppet'], credentials: ['loopback', 'puppet'] };

export class FarRig {
  readonly network: BusNetwork;
  readonly edge: NetworkBus;
  readonly rig: SessionRig;
  readonly nodes: FarNode[] = [];
  private readonly options: FarRigOptions;
  private readonly listeners = new Set<() => void>();

  constructor(options: FarRigOptions = {}) {
    this.options = options;
    const clock = new SimulatedClock();
    this.network = new BusNetwork(clock, options.random);
    this.edge = this.network.open('edge01');
    const placement = this.placementOf(this.edge, clock);
    const placed = options.placed === true ? { placement } : {};
    this.rig = new SessionRig({ ...options, ...placed, simulatedClock: clock, bus: this.edge });
    for (let node = 0; node < (options.nodes ?? 1); node++) this.add();
  }

  /** Another node with the role. */
  add(): FarNode {
    const { rig, options } = this;
    const bus = this.network.open(`up${String(this.nodes.length).padStart(4, '0')}`);
    const access = options.dialAccessOf?.(this.nodes.length);
    const providers = options.providersOf?.(this.nodes.length);
    const upstream = new UpstreamHost({
      ...rig.upstreamDependencies,
      ...(access === undefined ? {} : { access }),
      ...(providers === undefined ? {} : { providers }),
      ...(options.openSocket === undefined ? {} : { openSocket: options.openSocket }),
    });
    const health = new DialHealth(rig.clock);
    const node: FarNode = {
      ...{ bus, upstream, health, shortOf: undefined, isDraining: false, ...LISTED },
      legs: new LegService(bus, upstream, {
        placement: this.placementOf(bus, rig.clock),
        health,
        shortOf: () => node.shortOf,
      }),
      beat: heartbeatOf(bus.node),
    };
    this.nodes.push(node);
    this.beat();
    return node;
  }

  /** Every node says anew what it has to do. */
  beat(): void {
    for (const node of this.nodes) {
      const { providers, credentials, health, shortOf = null } = node;
      node.beat = {
        ...heartbeatOf(node.bus.node),
        legs: node.upstream.size,
        draining: node.isDraining,
        upstream: { providers, credentials, failing: health.failing(), shortOf },
      };
    }
    for (const listener of [...this.listeners]) listener();
  }

  private placementOf(bus: NetworkBus, clock: Clock): Placement {
    const { random } = this.options;
    return upstreamPlacement({
      members: {
        node: bus.node,
        nodes: () => this.nodes.map(({ beat }) => beat),
        onNodes: (listener) => {
          this.listeners.add(listener);
          return () => this.listeners.delete(listener);
        },
      },
      bus,
      clock,
      ...(random !== undefined && { random: () => random.next() }),
    });
  }

  /** That node. */
  node(index: number): FarNode {
    const node = this.nodes[index];
    if (node === undefined) throw new Error(`There is no node ${index}.`);
    return node;
  }

  /** It is told to end, and the others hear of it. */
  drain(index: number): Promise<void> {
    const node = this.node(index);
    node.isDraining = true;
    const drained = node.legs.drain();
    this.beat();
    return drained;
  }

  /** Legs of all nodes that are alive. */
  get legs(): number {
    return this.nodes.reduce((sum, { upstream }) => sum + upstream.size, 0);
  }

  /** The node is killed: its connections end with it. */
  kill(index: number): void {
    const { bus, upstream } = this.node(index);
    this.network.kill(bus.node);
    upstream.close();
  }

  /** Everything that sessions and legs may leave behind, counted. */
  leftBehind(): Record<string, number> {
    const timers = (Reflect.get(this.rig.clock, 'timeouts') as Map<unknown, unknown>).size;
    const actors = [this.edge, ...this.nodes.map(({ bus }) => bus)].reduce((sum, bus) => sum + bus.actors, 0);
    const { sessions, engine } = this.rig;
    return { sessions: sessions.size, legs: this.legs, connections: engine.connections, actors, timers };
  }
}

export const heartbeatOf = (node: string): Heartbeat => ({
  ...{ type: 'node.heartbeat', node, id: node, roles: ['upstream'], version: '1', sessions: 0, legs: 0 },
  ...{ sessionsMax: null, draining: false, leaving: false, wallMs: 0 },
});

export const NOTHING_FAR_LEFT = { sessions: 0, legs: 0, connections: 0, actors: 0, timers: 0 };
