// A rig whose sessions are on one node and whose legs are on others, over a network that a test can make fail.
import { SimulatedClock } from 'xstate';
import { type LegService, type Placement, serveLegs } from '../../src/session/leg-service.ts';
import { UpstreamHost } from '../../src/upstream/live.ts';
import { BusNetwork, type NetworkBus } from './bus-network.ts';
import type { Random } from './random.ts';
import { type RigOptions, SessionRig } from './session-rig.ts';

export interface FarNode {
  bus: NetworkBus;
  upstream: UpstreamHost;
  legs: LegService;
  /** Where it would have legs opened; undefined: here. */
  leastLoaded: string | undefined;
  /** Whether the others know that it takes nothing new. */
  isDraining: boolean;
  /** It hears that another node has come, or drains. */
  noteNodes(): void;
}

export interface FarRigOptions extends RigOptions {
  nodes?: number;
  random?: Random;
}

export class FarRig {
  readonly network: BusNetwork;
  readonly edge: NetworkBus;
  readonly rig: SessionRig;
  readonly nodes: FarNode[] = [];
  private readonly options: FarRigOptions;

  constructor(options: FarRigOptions = {}) {
    this.options = options;
    const clock = new SimulatedClock();
    this.network = new BusNetwork(clock, options.random);
    this.edge = this.network.open('edge01');
    this.rig = new SessionRig({ ...options, simulatedClock: clock, bus: this.edge });
    for (let node = 0; node < (options.nodes ?? 1); node++) this.add();
  }

  /** Another node with the role. */
  add(): FarNode {
    const { rig } = this;
    const bus = this.network.open(`up${String(this.nodes.length).padStart(4, '0')}`);
    const upstream = new UpstreamHost({
      ...rig.upstreamDependencies,
      ...(this.options.openSocket === undefined ? {} : { openSocket: this.options.openSocket }),
    });
    const listeners = new Set<() => void>();
    const placement: Placement = {
      leastLoaded: () => node.leastLoaded,
      hasOther: () => this.nodes.some((other) => other !== node && !other.isDraining),
      onNodes: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const node: FarNode = {
      ...{ bus, upstream, legs: serveLegs(bus, upstream, placement), leastLoaded: undefined, isDraining: false },
      noteNodes: () => {
        for (const listener of [...listeners]) listener();
      },
    };
    this.nodes.push(node);
    this.noteNodes();
    return node;
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
    this.noteNodes();
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

  private noteNodes(): void {
    for (const node of this.nodes) node.noteNodes();
  }

  /** Everything that sessions and legs may leave behind, counted. */
  leftBehind(): Record<string, number> {
    const timers = (Reflect.get(this.rig.clock, 'timeouts') as Map<unknown, unknown>).size;
    const actors = [this.edge, ...this.nodes.map(({ bus }) => bus)].reduce(
      (sum, bus) => sum + (bus.actors as Map<string, unknown>).size,
      0,
    );
    const { sessions, engine } = this.rig;
    return { sessions: sessions.size, legs: this.legs, connections: engine.connections, actors, timers };
  }
}

export const NOTHING_FAR_LEFT = { sessions: 0, legs: 0, connections: 0, actors: 0, timers: 0 };
