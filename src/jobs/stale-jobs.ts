// At the owner of the accounts: fails jobs of nodes that are gone, and removes jobs whose time is over.
import type { Clock } from '../../machines/clock.ts';
import type { JobStore } from './calls.ts';
import { JOB_LEASE_MS } from './job-records.ts';

const LOOK_MS = 15_000;
/** A timer that is later than this shows that the process was paused. */
const LATE_MS = 5_000;
/** Removed in one entry. */
const AT_ONCE = 100;

export interface StaleJobsOptions {
  store: Pick<JobStore, 'hasStaleJobs' | 'failLostJobs' | 'expireJobs'>;
  clock: Clock;
  /** `JOB_LEASE_MS` when absent. */
  leaseMs?: number;
  onLost(jobs: number): void;
  onFault(error: unknown): void;
}

export class StaleJobs {
  readonly #options: StaleJobsOptions;
  #timer: unknown;
  /** Before this, a node that is there may not have been able to say so. */
  #fromMs = 0;
  #isClosed = false;

  constructor(options: StaleJobsOptions) {
    this.#options = options;
    this.postpone();
    this.#arm();
  }

  /** Nodes could not reach the accounts until now. */
  postpone(): void {
    const { clock, leaseMs = JOB_LEASE_MS } = this.#options;
    this.#fromMs = clock.now() + leaseMs;
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    const { clock } = this.#options;
    if (this.#isClosed) return;
    const dueMs = clock.now() + LOOK_MS;
    this.#timer = clock.setTimeout(() => {
      if (clock.now() - dueMs > LATE_MS) this.postpone();
      void this.#look().finally(() => this.#arm());
    }, LOOK_MS);
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { store, clock, onLost, onFault } = this.#options;
    try {
      if (!(await store.hasStaleJobs())) return;
      await store.expireJobs(AT_ONCE);
      const lost = clock.now() < this.#fromMs ? 0 : await store.failLostJobs();
      if (lost > 0) onLost(lost);
    } catch (error) {
      onFault(error);
    }
  }
}
