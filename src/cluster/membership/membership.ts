// Which nodes there are: has this one's name, says what it has to do every two seconds, and hears the others. What is known of them
// is node-view.ts; how the name is kept, keep-name.ts.
import type { Clock } from '../../../machines/clock.ts';
import type { Bus, Detach } from '../../bus/bus.ts';
import type { Leases } from '../../bus/leases.ts';
import { NODE_HEARTBEAT, NODE_STATUS } from '../../bus/subjects.ts';
import type { Role } from '../../config/schema-cluster.ts';
import { Listeners } from '../../store/listeners.ts';
import { backgroundClock } from '../../telemetry/clock.ts';
import { isCalled } from './ask-node.ts';
import { HEARTBEAT_MS, type Heartbeat, type NodeLoad, readHeartbeat } from './heartbeat.ts';
import { holdNameLease, type NameLease } from './name-lease.ts';
import { NodeView } from './node-view.ts';

/** The leases of nodes begin so. */
export const NODE_PREFIX = 'node.';
/** A heartbeat out of turn follows the last one by so much at least. */
const SOON_MS = 200;
const LOOK_AGAIN_MS = 1000;

export interface MembershipOptions {
  bus: Omit<Bus, 'attach' | 'send' | 'serveLocal' | 'request' | 'deadLetters' | 'close'>;
  leases: Leases;
  clock?: Clock;
  /** Epoch milliseconds. */
  wallMs?: () => number;
  self: { id: string; roles: readonly Role[]; version: string };
  /** How much this node has to do at this moment. */
  load(): NodeLoad;
  /**
   * Whether a server answers right now: `() => answersNow(natsBus)` of bus/nats/jetstream/common.ts. Where it does not, a node that is
   * silent may be there. The connection alone when absent.
   */
  answersNow?: () => Promise<boolean>;
  /** Something that the operator should know, as a sentence. */
  onWarning?(sentence: string): void;
  /** Another node has this one's name: this one drains and ends. Told once. */
  onConflict(sentence: string): void;
  staleWaitMs?: number;
}

export interface Membership {
  /** This node's incarnation. */
  readonly node: string;
  /** Whether this node has its name now. */
  readonly isJoined: boolean;
  /** Messages on the topic that are no heartbeat, or of more nodes than there is room for. */
  readonly ignored: number;
  /** Everyone who was heard of late, this node first. While the bus is away: everyone who was there before. */
  nodes(): Heartbeat[];
  /** Nodes with that role, this one and those that drain included. */
  count(role: Role): number;
  /** Hears of other nodes that have left, or have been silent for six seconds while NATS was there. */
  onGone(listener: (node: string) => void): Detach;
  /** Hears whenever who is there, what they do or whether they drain has changed. */
  onNodes(listener: () => void): Detach;
  /** What this node says of itself is not what it was: the others hear of it soon. */
  changed(): void;
  /** This node takes nothing new: told to everyone at once. */
  drain(): void;
  /** Tells everyone, and gives the name back. Never rejects. */
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
      bus.serve(NODE_STATUS, () => this.#own(false)),
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
    const { bus, leases, self, onConflict, staleWaitMs } = this.#options;
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
      onLost: onConflict,
      ...(staleWaitMs !== undefined && { staleWaitMs }),
    });
    this.#beat();
  }

  nodes(): Heartbeat[] {
    return [this.#own(false), ...this.#view.beats()];
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

  #beat(): void {
    if (this.#hasLeft) return;
    this.#clock.clearTimeout(this.#beatTimer);
    this.#beatTimer = this.#clock.setTimeout(() => this.#beat(), HEARTBEAT_MS);
    this.#beatAtMs = this.#clock.now();
    // A node without its name is not one of the gateway yet, unless it has had it: then others go on counting on it.
    if (this.#name?.revision === undefined || !this.#options.bus.isConnected) return;
    this.#options.bus.publish(NODE_HEARTBEAT, this.#own(false));
  }

  /** Somebody new is there, or something is new, that should not wait for the next one. */
  #beatSoon(): void {
    if (this.#name === undefined || this.#hasLeft) return;
    const delayMs = Math.max(0, this.#beatAtMs + SOON_MS - this.#clock.now());
    this.#clock.clearTimeout(this.#beatTimer);
    this.#beatTimer = this.#clock.setTimeout(() => this.#beat(), delayMs);
  }

  #hear(body: unknown): void {
    const beat = readHeartbeat(body);
    if (beat?.node === this.node || this.#hasLeft) return;
    if (beat?.leaving === true) this.#forget(beat.node);
    else if (beat !== undefined) this.#note(beat);
    else this.ignored++;
  }

  #note(beat: Heartbeat): void {
    const heard = this.#view.hear(beat, this.#clock.now(), this.#wallMs());
    if (heard === undefined) {
      this.ignored++;
      return;
    }
    if (heard.skewMs !== undefined) this.#warnOfSkew(beat, heard.skewMs);
    if (heard.isNew) this.#beatSoon();
    if (this.#view.size === 1 && heard.isNew) this.#watchSilence();
    if (heard.isChange) this.#nodesListeners.tell();
  }

  #warnOfSkew({ id }: Heartbeat, skewMs: number): void {
    const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
    const where = skewMs > 0 ? 'ahead of' : 'behind';
    this.#options.onWarning?.(
      `The clock of the node "${id}" is ${seconds} s ${where} the one of "${this.#options.self.id}": keep both right with NTP, or tokens end too soon or too late.`,
    );
  }

  #connection(isConnected: boolean): void {
    this.#clock.clearTimeout(this.#silenceTimer);
    if (!isConnected) return;
    // Nobody could be heard: that says nothing of them.
    this.#view.forgive(this.#clock.now());
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
      // A server that hangs makes everyone silent, and that is noticed on the connection later than here.
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

  #forget(node: string): void {
    if (!this.#view.remove(node)) return;
    this.#goneListeners.tell(node);
    this.#nodesListeners.tell();
  }
}
