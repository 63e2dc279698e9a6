// Having a name as long as the process lives: waits for a ghost of it at the start, takes it again after an outage, and tells
// when somebody else has it. What the name stands for is the caller's.
import type { Clock } from '../../../machines/clock.ts';
import { type Bus, BusError } from '../../bus/bus.ts';
import type { Lease, Leases, LeaseValue } from '../../bus/leases.ts';

/** How long a name is waited for whose holder may be gone: longer than a lease lives. */
export const GHOST_MS = 20_000;
const RETRY_MS = 1000;

/** A node that cannot be part of the gateway as it is. The message is one sentence for the operator. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
}

export interface NameOptions {
  bus: Pick<Bus, 'node' | 'isConnected' | 'onConnection'>;
  leases: Leases;
  clock: Clock;
  name: string;
  /** What is written under it. `node` in it is the own incarnation. */
  value: LeaseValue & { node: string };
  ghostMs?: number;
  /** The sentence about somebody else who has it. */
  taken(heldBy: LeaseValue): string;
  /**
   * Whether that one is there. What is written under a name may be a ghost, or nobody's: without an answer it is not given up for
   * it, but taken again as soon as it is free. Believed without being asked when absent.
   */
  isThere?(heldBy: LeaseValue): Promise<boolean>;
  /**
   * Taken, or taken again, with that revision. Until it resolves the name is not counted on; when it rejects it is given back, and
   * after a BusError taken again.
   */
  onTaken?(revision: number): Promise<void> | void;
  /** Somebody else has it for good, or `onTaken` rejected. Told once; nothing comes after it. */
  onLost(sentence: string): void;
}

export interface KeptName {
  /** The last one; undefined before the name was taken for the first time. */
  readonly revision: number | undefined;
  /** Whether nobody else can have the name now. */
  readonly isSure: boolean;
  update(value: LeaseValue): void;
  /** Never rejects. */
  release(): Promise<void>;
}

/**
 * Takes the name; where the bus is not connected it is taken as soon as that is possible, and somebody else who has it by then is
 * told as lost.
 *
 * @throws ClusterError when somebody else still has it after the time of a ghost
 */
export async function keepName(options: NameOptions): Promise<KeptName> {
  const keeper = new NameKeeper(options);
  if (options.bus.isConnected) await keeper.takeFirst();
  else keeper.takeLater();
  return keeper;
}

class NameKeeper implements KeptName {
  readonly #options: NameOptions;
  readonly #ghostMs: number;
  readonly #detach: () => void;
  #value: LeaseValue;
  #lease: Lease | undefined;
  #revision: number | undefined;
  #isSure = false;
  #isEnded = false;
  #isTaking = false;
  #wake = () => {};

  constructor(options: NameOptions) {
    this.#options = options;
    this.#ghostMs = options.ghostMs ?? GHOST_MS;
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
    // It was lost again before this was over.
    if (this.#lease?.isValid !== true) this.takeLater();
  }

  /** Rejects with ClusterError, or with what `onTaken` rejected with. A start does not wait for NATS without end. */
  async #take(isFirst: boolean): Promise<void> {
    const beganAtMs = this.#options.clock.now();
    let foundAtMs: number | undefined;
    while (!this.#isEnded) {
      const found = await this.#try();
      if (found === undefined) return;
      const nowMs = this.#options.clock.now();
      if (found instanceof BusError) {
        foundAtMs = undefined;
        if (isFirst && nowMs - beganAtMs >= this.#ghostMs) throw new ClusterError(found.message);
      } else {
        foundAtMs ??= nowMs;
        const isOver = nowMs - foundAtMs >= this.#ghostMs;
        if (await this.#isGivenUp(found, isFirst, isOver)) throw new ClusterError(this.#options.taken(found));
      }
      await this.#pause(found instanceof BusError && !isFirst && !this.#options.bus.isConnected);
    }
  }

  async #isGivenUp(found: LeaseValue, isFirst: boolean, isOver: boolean): Promise<boolean> {
    const { bus, isThere = async () => true } = this.#options;
    if (isFirst) return isOver;
    // The own ghost ends by itself; a name that was had before, and is somebody else's now, does not come back.
    const isDue = this.#revision === undefined ? isOver : found.node !== bus.node;
    return isDue && (await isThere(found));
  }

  /** Resolves with nothing when it is taken, else with who has it, or why NATS did not say so. */
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
      // NATS went away in between: it is taken once more.
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
