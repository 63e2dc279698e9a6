// Whether the process has room for more work: how late its event loop runs, and how much of its memory is in use.
import type { Clock } from '../../machines/clock.ts';

/** The interval at which the lag of the event loop is measured, and how many of these pass between two looks at the memory. */
export const CHECK_MS = 100;
const CHECKS_PER_MEMORY = 10;
/** How much of a new measurement counts: one short stall is forgotten, one of three seconds is felt for half a second. */
const NEW_SHARE = 0.3;
/** A longer lag is not load: the process was suspended. */
const LATE_MS_MAX = 5_000;
/** Shares of the memory from which on no new work is accepted, and from which on sessions are asked to move or end. */
export const MEMORY_FULL = 0.9;
export const MEMORY_CRITICAL = 0.95;

export interface OverloadMonitorOptions {
  /** Its timers do not keep the process running. */
  clock: Clock;
  /** Mean lateness of the event loop, in milliseconds, above which there is no room for more. */
  lagMsMax: number;
  /** The share of the memory in use, from 0 to 1. */
  memoryShare(): number;
  /** The process is about to run out of memory; told once a second for as long as that lasts. */
  onCritical(): void;
}

export class OverloadMonitor {
  readonly #options: OverloadMonitorOptions;
  #timer: unknown;
  #checks = 0;
  #meanLagMs = 0;
  #share = 0;
  #closed = false;

  constructor(options: OverloadMonitorOptions) {
    this.#options = options;
    this.#arm();
  }

  /** The mean lag of the event loop. */
  get lagMs(): number {
    return this.#meanLagMs;
  }

  /** The resource that is short; undefined when there is room for more work. */
  get shortOf(): 'time' | 'memory' | undefined {
    if (this.#share >= MEMORY_FULL) return 'memory';
    return this.#meanLagMs > this.#options.lagMsMax ? 'time' : undefined;
  }

  close(): void {
    this.#closed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    const { clock } = this.#options;
    const dueMs = clock.now() + CHECK_MS;
    this.#timer = clock.setTimeout(() => this.#check(clock.now() - dueMs), CHECK_MS);
  }

  #check(lateMs: number): void {
    if (this.#closed) return;
    const boundedMs = Math.min(LATE_MS_MAX, Math.max(0, lateMs));
    this.#meanLagMs += NEW_SHARE * (boundedMs - this.#meanLagMs);
    this.#checks++;
    this.#arm();
    if (this.#checks % CHECKS_PER_MEMORY !== 0) return;
    this.#share = this.#options.memoryShare();
    if (this.#share >= MEMORY_CRITICAL) this.#options.onCritical();
  }
}
