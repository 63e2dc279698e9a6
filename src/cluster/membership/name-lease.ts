// Holds the lease of a name for as long as the process lives: waits at the start for a stale lease to run out, takes the name again
// after an outage, and reports when another process has it.
import type { Clock } from '../../../machines/clock.ts';
import { type Bus, BusError } from '../bus/bus.ts';
import type { Lease, Leases, LeaseValue } from '../bus/leases.ts';

/** How long to wait for a lease whose holder may be gone. Longer than a lease lives without renewal. */
export const STALE_LEASE_WAIT_MS = 20_000;
const RETRY_MS = 1000;

/** This node cannot join the cluster now. The message is one sentence for the operator. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
  /** Another start may succeed with the same settings, once another node or NATS has changed. */
  readonly isPassing: boolean;

  constructor(message: string, { isPassing = false } = {}) {
    super(message);
    this.isPassing = isPassing;
  }
}

export interface NameLeaseOptions {
  bus: Pick<Bus, 'node' | 'isConnected' | 'onConnection'>;
  leases: Leases;
  clock: Clock;
  name: string;
  /** The value of the lease. Its `node` is this node's incarnation. */
  value: LeaseValue & { node: string };
  staleWaitMs?: number;
  /** The sentence for the operator when another process holds the name. */
  taken(heldBy: LeaseValue): string;
  /** The holder may be this node's predecessor: a later start may find the name free. Otherwise two nodes were given one name. */
  isHandedOver?: boolean;
  /** Called once when the first acquisition has to wait, with the reason. */
  onWaiting?: ((sentence: string) => void) | undefined;
  /**
   * Whether the holder in the lease's value is running. The lease may be stale: if its holder does not answer, this process does
   * not give up, and takes the name as soon as it is free. Without this function every holder counts as running.
   */
  isHolderAlive?(heldBy: LeaseValue): Promise<boolean>;
  /**
   * The lease was acquired, for the first time or again, with that revision. `isSure` stays false until this resolves. If it
   * rejects, the lease is released; after a BusError it is acquired again.
   */
  onTaken?(revision: number): Promise<void> | void;
  /** Another process holds the name for good, or `onTaken` rejected. Called at most once, and last. */
  onLost(sentence: string): void;
}

export interface NameLease {
  /** The revision of the last lease; undefined before the first one. */
  readonly revision: number | undefined;
  /** Whether this process holds the lease now, so that no other can. */
  readonly isSure: boolean;
  update(value: LeaseValue): void;
  /** Never rejects. */
  release(): Promise<void>;
}

/**
 * Acquires the lease. While the bus is not connected this returns at once and the lease is acquired after the connection;
 * `onLost` then reports another holder.
 *
 * @throws ClusterError when another process still holds the name after `staleWaitMs`
 */
export async function holdNameLease(options: NameLeaseOptions): Promise<NameLease> {
  const held = new HeldNameLease(options);
  if (options.bus.isConnected) await held.takeFirst();
  else held.takeLater();
  return held;
}

class HeldNameLease implements NameLease {
  readonly #options: NameLeaseOptions;
  readonly #staleWaitMs: number;
  readonly #detach: () => void;
  #value: LeaseValue;
  #lease: Lease | undefined;
  #revision: number | undefined;
  #isSure = false;
  #isEnded = false;
  #isTaking = false;
  #isWaitingTold = false;
  #wake = () => {};

  constructor(options: NameLeaseOptions) {
    this.#options = options;
    this.#staleWaitMs = options.staleWaitMs ?? STALE_LEASE_WAIT_MS;
    this.#value = options.value;
    this.#detach = options.bus.onConnection((isConnected) => {
      if (isConnected) this.#wake();
    });
  }

  get revision(): number | undefined {
    return this.#revision;
  }

  get isSure(): boolean {
    return this.#isSure && this.#lease?.isValid === true;
  }

  update(value: LeaseValue): void {
    this.#value = value;
    this.#lease?.update(value);
  }

  async release(): Promise<void> {
    this.#end();
    await this.#lease?.release();
  }

  async takeFirst(): Promise<void> {
    try {
      await this.#takeOnce(true);
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  /** Never rejects. */
  takeLater(): void {
    if (this.#isTaking || this.#isEnded) return;
    this.#takeOnce(false).catch((error: unknown) => this.#lose(error instanceof Error ? error.message : String(error)));
  }

  async #takeOnce(isFirst: boolean): Promise<void> {
    this.#isTaking = true;
    try {
      await this.#take(isFirst);
    } finally {
      this.#isTaking = false;
    }
    // The lease was lost again before this was done.
    if (this.#lease?.isValid !== true) this.takeLater();
  }

  /** Rejects with ClusterError, or with the error of `onTaken`. At the start, the wait for NATS is bounded. */
  async #take(isFirst: boolean): Promise<void> {
    let beganAtMs = this.#options.clock.now();
    let foundAtMs: number | undefined;
    while (!this.#isEnded) {
      const found = await this.#try();
      if (found === undefined) return;
      const nowMs = this.#options.clock.now();
      if (found instanceof BusError) {
        foundAtMs = undefined;
        // NATS does not answer for seconds when the missing server joins.
        if (isServerMissing(found)) beganAtMs = nowMs;
        const isOver = nowMs - beganAtMs >= this.#staleWaitMs;
        // Without JetStream there is nobody to ask, however long this waits.
        if (isFirst && isOver) throw new ClusterError(found.message, { isPassing: found.reason !== 'unknown_actor' });
        if (isFirst) this.#tellWaiting(found.message);
      } else {
        foundAtMs ??= nowMs;
        const isOver = nowMs - foundAtMs >= this.#staleWaitMs;
        const { taken, isHandedOver = false } = this.#options;
        if (await this.#isGivenUp(found, isFirst, isOver))
          throw new ClusterError(taken(found), { isPassing: isHandedOver });
        if (isFirst && isHandedOver) this.#tellWaiting(taken(found));
      }
      await this.#pause(found instanceof BusError && !isFirst && !this.#options.bus.isConnected);
    }
  }

  #tellWaiting(sentence: string): void {
    if (this.#isWaitingTold) return;
    this.#isWaitingTold = true;
    this.#options.onWaiting?.(sentence);
  }

  async #isGivenUp(found: LeaseValue, isFirst: boolean, isOver: boolean): Promise<boolean> {
    const { bus, isHolderAlive = async () => true } = this.#options;
    if (isFirst) return isOver;
    // A stale lease of this node itself runs out. A name that this process held, and that another node holds now, is lost.
    const isDue = this.#revision === undefined ? isOver : found.node !== bus.node;
    return isDue && (await isHolderAlive(found));
  }

  /** Resolves with undefined when the lease was acquired, else with its holder's value, or with the error of NATS. */
  async #try(): Promise<LeaseValue | BusError | undefined> {
    const { leases, name, onTaken } = this.#options;
    try {
      let lease: Lease | undefined;
      const answer = await leases.acquire(name, this.#value, () => {
        if (this.#lease === lease) this.#isSure = false;
        this.takeLater();
      });
      if (!('release' in answer)) return answer.heldBy;
      lease = answer;
      this.#lease = answer;
    } catch (error) {
      if (error instanceof BusError) return error;
      throw error;
    }
    if (this.#isEnded) {
      await this.#lease.release();
      return undefined;
    }
    try {
      await onTaken?.(this.#lease.revision);
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      // NATS was disconnected meanwhile: acquire the lease again.
      await this.#lease.release();
      return error;
    }
    this.#revision = this.#lease.revision;
    this.#isSure = true;
    return undefined;
  }

  #pause(untilConnected: boolean): Promise<void> {
    return new Promise((resolve) => {
      const timer = untilConnected ? undefined : this.#options.clock.setTimeout(() => this.#wake(), RETRY_MS);
      this.#wake = () => {
        this.#options.clock.clearTimeout(timer);
        this.#wake = () => {};
        resolve();
      };
    });
  }

  #lose(sentence: string): void {
    if (this.#isEnded) return;
    this.#end();
    void this.#lease?.release();
    this.#options.onLost(sentence);
  }

  #end(): void {
    this.#isEnded = true;
    this.#isSure = false;
    this.#detach();
    this.#wake();
  }
}

/** Fewer NATS servers run than the streams are to have replicas: the first start waits until they do, however long that takes. */
const isServerMissing = ({ message }: BusError): boolean => /no suitable peers/.test(message);
