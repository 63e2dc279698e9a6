// On every node that serves clients: looks for jobs of nodes that were lost, and adopts them, a few at a time, so that they are spread over
// the nodes. Only a node that could ask the accounts all along knows that another one could have renewed its lease.
import type { Clock } from '../../machines/clock.ts';

/** Adopted at once. */
export const ADOPTED_AT_ONCE = 4;
/** Adopted jobs of this node that are not over: of all keys, and of one, beyond which others are adopted first. */
export const ADOPTED_MAX = 100;
export const ADOPTED_OF_KEY_MAX = 4;
const NEXT_MS = 1_000;
/** A timer that is later than this part of the lease, and than this, shows that the process was paused. */
const LATE_SHARE = 1 / 12;
const LATE_MS = 1_000;

export interface TakeoverOptions {
  clock: Clock;
  leaseMs: number;
  /** Adopted jobs that are not over, by key. */
  adopted(): ReadonlyMap<string, number>;
  hasLost(exceptKeys: readonly string[]): Promise<boolean>;
  /** Returns how many. */
  adopt(max: number, exceptKeys: readonly string[]): Promise<number>;
  onAdopted(jobs: number): void;
  onFault(error: unknown): void;
  /** From 0 to 1. */
  random?(): number;
}

export class Takeover {
  readonly #options: TakeoverOptions;
  #timer: unknown;
  /** Before this, a node that is there may not have been able to say so. */
  #fromMs = 0;
  #isClosed = false;

  constructor(options: TakeoverOptions) {
    this.#options = options;
    this.postpone();
    this.#arm(this.#lookMs());
  }

  /** Nodes could not reach the accounts until now. */
  postpone(): void {
    const { clock, leaseMs } = this.#options;
    this.#fromMs = clock.now() + leaseMs;
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  /** Nodes look at different times. */
  #lookMs(): number {
    const { leaseMs, random = Math.random } = this.#options;
    return (leaseMs / 4) * (2 / 3 + (2 / 3) * random());
  }

  #arm(afterMs: number): void {
    const { clock, leaseMs } = this.#options;
    if (this.#isClosed) return;
    const dueMs = clock.now() + afterMs;
    this.#timer = clock.setTimeout(() => {
      if (clock.now() - dueMs > Math.max(LATE_MS, leaseMs * LATE_SHARE)) this.postpone();
      void this.#look().then((isMore) => this.#arm(isMore ? NEXT_MS : this.#lookMs()));
    }, afterMs);
  }

  /** Whether there may be more. Never rejects. */
  async #look(): Promise<boolean> {
    const { clock, adopted, hasLost, adopt, onAdopted, onFault } = this.#options;
    const byKey = [...adopted()];
    const room = ADOPTED_MAX - byKey.reduce((sum, [, jobs]) => sum + jobs, 0);
    const exceptKeys = byKey.filter(([, jobs]) => jobs >= ADOPTED_OF_KEY_MAX).map(([keyId]) => keyId);
    try {
      if (!(await hasLost(exceptKeys)) || clock.now() < this.#fromMs || room <= 0) return false;
      const jobs = await adopt(Math.min(room, ADOPTED_AT_ONCE), exceptKeys);
      if (jobs > 0) onAdopted(jobs);
      return jobs > 0;
    } catch (error) {
      this.postpone();
      onFault(error);
      return false;
    }
  }
}
