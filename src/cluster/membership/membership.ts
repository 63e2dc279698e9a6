// This node's membership in the cluster: holds the lease of its name, sends a heartbeat every two seconds, and follows the
// heartbeats of the others.
import type { Clock } from '../../../machines/clock.ts';
import type { Role } from '../../config/schema-cluster.ts';
import { backgroundClock } from '../../runtime/telemetry/clock.ts';
import { Listeners } from '../../store/listeners.ts';
import type { Bus, Detach } from '../bus/bus.ts';
import { type Leases, NODE_PREFIX } from '../bus/leases.ts';
import { NODE_HEARTBEAT, NODE_STATUS } from '../bus/subjects.ts';
import {
  HEARTBEAT_MS,
  type Heartbeat,
  MissingNodes,
  type NodeLoad,
  OwnLists,
  readHeartbeat,
  withLists,
} from './heartbeat.ts';
import { holdNameLease, type NameLease } from './name-lease.ts';
import { NodeView, skewWarning } from './node-view.ts';
import { askNode, isCalled } from './roll-call.ts';

/** The least time between two heartbeats. */
const SOON_MS = 200;
const LOOK_AGAIN_MS = 1000;

export interface MembershipOptions {
  bus: Omit<Bus, 'attach' | 'send' | 'serveLocal' | 'request' | 'deadLetters' | 'close'>;
  leases: Leases;
  clock?: Clock;
  /** Epoch milliseconds. */
  wallMs?: () => number;
  self: { id: string; roles: readonly Role[]; version: string };
  /** The present load of this node. */
  load(): NodeLoad;
  /**
   * Whether a NATS server answers now: `() => answersNow(natsBus)` of bus/nats/jetstream/common.ts. While none does, a silent
   * node may still run. Without this function the connection's state counts.
   */
  answersNow?: () => Promise<boolean>;
  /** Reports to the operator, in a sentence. */
  onWarning?(sentence: string): void;
  /** Another node holds this one's name: this one has to drain and end. Called once. */
  onConflict(sentence: string): void;
  staleWaitMs?: number;
}

export interface Membership {
  /** This node's incarnation. */
  readonly node: string;
  /** Whether this node holds its name now. */
  readonly isJoined: boolean;
  /** Messages on the topic that are not heartbeats, or come from more nodes than fit. */
  readonly ignored: number;
  /** All nodes that were heard lately, this one first. While the bus is down: those that were there before. */
  nodes(): Heartbeat[];
  /** How far the clocks of the other nodes are ahead of this one's (negative: behind), in the middle. */
  skewMs(): number;
  /** Nodes with that role, this one and draining ones included. */
  count(role: Role): number;
  /** Called for other nodes that have left, or were silent for six seconds while NATS was connected. */
  onGone(listener: (node: string) => void): Detach;
  /** Called when the set of nodes, or what one of them says of itself, has changed. */
  onNodes(listener: () => void): Detach;
  /** The status of this node has changed: send a heartbeat soon. */
  changed(): void;
  /** This node drains: tell the others at once. */
  drain(): void;
  /** Sends a last heartbeat and releases the name. Never rejects. */
  leave(): Promise<void>;
}

/**
 * Joins the cluster. Waits for a stale lease of this node's own name, as after a kill. While the bus is not connected, joins later.
 *
 * @throws ClusterError when another node has the name and keeps it
 */
export async function joinCluster(options: MembershipOptions): Promise<Membership> {
  const member = new Member(options);
  try {
    await member.join();
  } catch (error) {
    await member.leave();
    throw error;
  }
  return member;
}

class Member implements Membership {
  readonly #options: MembershipOptions;
  readonly #clock: Clock;
  readonly #wallMs: () => number;
  readonly #view = new NodeView();
  readonly #missing = new MissingNodes();
  readonly #lists = new OwnLists();
  /** Nodes that were asked for their lists of providers and have not answered yet. */
  readonly #asked = new Set<string>();
  readonly #goneListeners = new Listeners<string>();
  readonly #nodesListeners = new Listeners<void>();
  readonly #detach: Detach[];
  #name: NameLease | undefined;
  #beatTimer: unknown;
  #silenceTimer: unknown;
  #beatAtMs = Number.NEGATIVE_INFINITY;
  #isDraining = false;
  #hasLeft = false;
  ignored = 0;

  constructor(options: MembershipOptions) {
    const { bus } = options;
    this.#options = options;
    this.#clock = options.clock ?? backgroundClock;
    this.#wallMs = options.wallMs ?? Date.now;
    this.#detach = [
      bus.subscribe(NODE_HEARTBEAT, (body) => this.#hear(body)),
      bus.serve(NODE_STATUS, () => ({
        ...this.#numbered(this.#own(false)),
        missing: this.#missing.list(this.#clock.now()),
      })),
      bus.onConnection((isConnected) => this.#connection(isConnected)),
    ];
  }

  get node(): string {
    return this.#options.bus.node;
  }

  get isJoined(): boolean {
    return this.#name?.isSure === true;
  }

  async join(): Promise<void> {
    const { bus, leases, self, onConflict, onWarning, staleWaitMs } = this.#options;
    const { id, roles, version } = self;
    this.#name = await holdNameLease({
      bus,
      leases,
      clock: this.#clock,
      name: `${NODE_PREFIX}${id}`,
      value: { node: bus.node, id, roles, version, sinceMs: this.#wallMs() },
      taken: () =>
        `Another node is called "${id}": give this one another VOXGATE_NODE_ID, or stop the other one first.`,
      isHolderAlive: (heldBy) => isCalled(bus, id, heldBy),
      onWaiting: onWarning,
      onLost: onConflict,
      ...(staleWaitMs !== undefined && { staleWaitMs }),
    });
    this.#beat();
  }

  nodes(): Heartbeat[] {
    return [this.#own(false), ...this.#view.beats()];
  }

  skewMs(): number {
    return this.#view.skewMs();
  }

  count(role: Role): number {
    return this.nodes().filter(({ roles }) => roles.includes(role)).length;
  }

  onGone(listener: (node: string) => void): Detach {
    return this.#goneListeners.add(listener);
  }

  onNodes(listener: () => void): Detach {
    return this.#nodesListeners.add(listener);
  }

  changed(): void {
    this.#beatSoon();
  }

  drain(): void {
    if (this.#isDraining || this.#hasLeft) return;
    this.#isDraining = true;
    this.#beat();
    this.#nodesListeners.tell();
  }

  async leave(): Promise<void> {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#clock.clearTimeout(this.#beatTimer);
    this.#clock.clearTimeout(this.#silenceTimer);
    for (const detach of this.#detach) detach();
    if (this.#name === undefined) return;
    if (this.#options.bus.isConnected) this.#options.bus.publish(NODE_HEARTBEAT, this.#own(true));
    await this.#name.release();
  }

  #own(leaving: boolean): Heartbeat {
    const { bus, self, load } = this.#options;
    return {
      type: NODE_HEARTBEAT,
      node: bus.node,
      id: self.id,
      roles: [...self.roles],
      version: self.version,
      ...load(),
      draining: this.#isDraining || leaving,
      leaving,
      wallMs: this.#wallMs(),
    };
  }

  #numbered(own: Heartbeat): Heartbeat {
    return { ...own, upstreamRevision: this.#lists.revisionOf(own.upstream) };
  }

  #beat(): void {
    if (this.#hasLeft) return;
    this.#clock.clearTimeout(this.#beatTimer);
    this.#beatTimer = this.#clock.setTimeout(() => this.#beat(), HEARTBEAT_MS);
    this.#beatAtMs = this.#clock.now();
    // A node sends heartbeats only once it holds its name, and continues after it has lost the lease in an outage.
    if (this.#name?.revision === undefined || !this.#options.bus.isConnected) return;
    this.#options.bus.publish(
      NODE_HEARTBEAT,
      this.#lists.outgoing(this.#numbered(this.#own(false)), this.#view.beats()),
    );
  }

  /** Sends a heartbeat early, for a new node or a change. */
  #beatSoon(): void {
    if (this.#name === undefined || this.#hasLeft) return;
    const delayMs = Math.max(0, this.#beatAtMs + SOON_MS - this.#clock.now());
    this.#clock.clearTimeout(this.#beatTimer);
    this.#beatTimer = this.#clock.setTimeout(() => this.#beat(), delayMs);
  }

  #hear(body: unknown): void {
    const beat = readHeartbeat(body);
    if (beat?.node === this.node || this.#hasLeft) return;
    if (beat?.leaving === true) this.#left(beat);
    else if (beat !== undefined) this.#note(beat);
    else this.ignored++;
  }

  #note(arrived: Heartbeat): void {
    const { beat, isComplete } = withLists(arrived, this.#view.find(arrived.node));
    this.#see(beat);
    if (!isComplete) void this.#askForLists(beat.node);
  }

  #see(beat: Heartbeat): void {
    this.#missing.remove(beat.id);
    const heard = this.#view.hear(beat, this.#clock.now(), this.#wallMs());
    if (heard === undefined) {
      this.ignored++;
      return;
    }
    if (heard.skewMs !== undefined)
      this.#options.onWarning?.(skewWarning(beat.id, heard.skewMs, this.#options.self.id));
    if (heard.isNew) {
      this.#lists.repeat();
      this.#beatSoon();
    }
    if (this.#view.size === 1 && heard.isNew) this.#watchSilence();
    if (heard.isChange) this.#nodesListeners.tell();
  }

  /** The heartbeat with these lists was lost, or nobody here can read them. The answer is final for its revision. */
  async #askForLists(node: string): Promise<void> {
    if (this.#asked.has(node)) return;
    this.#asked.add(node);
    const status = await askNode(this.#options.bus, node).finally(() => this.#asked.delete(node));
    if (status?.node === node && !this.#hasLeft && this.#view.find(node) !== undefined) this.#see(status);
  }

  #connection(isConnected: boolean): void {
    this.#clock.clearTimeout(this.#silenceTimer);
    if (!isConnected) return;
    // This node could not hear the others, so their silence proves nothing.
    this.#view.forgive(this.#clock.now());
    this.#lists.repeat();
    this.#watchSilence();
    this.#beat();
  }

  #watchSilence(): void {
    this.#clock.clearTimeout(this.#silenceTimer);
    const delayMs = this.#view.nextSilenceMs(this.#clock.now());
    if (delayMs === undefined || !this.#options.bus.isConnected || this.#hasLeft) return;
    this.#silenceTimer = this.#clock.setTimeout(() => void this.#lookForSilent(), delayMs);
  }

  async #lookForSilent(): Promise<void> {
    const { bus, answersNow = async () => bus.isConnected } = this.#options;
    if (this.#view.silent(this.#clock.now()).length > 0) {
      // When a server hangs, all nodes are silent, and the connection notices it later.
      const isAnswering = await answersNow();
      if (this.#hasLeft || !bus.isConnected) return;
      if (!isAnswering) {
        this.#clock.clearTimeout(this.#silenceTimer);
        this.#silenceTimer = this.#clock.setTimeout(() => void this.#lookForSilent(), LOOK_AGAIN_MS);
        return;
      }
      for (const node of this.#view.silent(this.#clock.now())) this.#forget(node);
    }
    this.#watchSilence();
  }

  #left({ id, node }: Heartbeat): void {
    this.#forget(node);
    this.#missing.remove(id);
  }

  #forget(node: string): void {
    const seen = this.#view.remove(node);
    if (seen === undefined) return;
    this.#missing.add(seen.beat, seen.heardAtMs);
    this.#goneListeners.tell(node);
    this.#nodesListeners.tell();
  }
}
