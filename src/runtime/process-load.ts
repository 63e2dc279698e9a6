// How busy the process is: whether it has room for more work, by how late its event loop runs and how much of its memory is in use, and
// how far it is from having none.

import { totalmem } from 'node:os';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../../machines/clock.ts';

/** The interval at which the lag of the event loop is measured, and how many of these pass between two looks at the memory. */
export const CHECK_MS = 100;
const CHECKS_PER_MEMORY = 10;
/** How much of a new measurement counts: one short stall is forgotten, one of three seconds is felt for half a second. */
const NEW_SHARE = 0.3;
/** A longer lag is not load: the process was suspended. */
const LATE_MS_MAX = 5_000;
/** Shares of the memory from which on no new work is accepted, and from which on sessions are asked to move or end. */
const MEMORY_FULL = 0.9;
const MEMORY_CRITICAL = 0.95;

interface OverloadMonitorOptions {
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

const LOOK_MS = 500;
/** Of the loop's time: below `low` there is room for everything, from `high` on for nothing that can be spared. */
const BUSY = { low: 0.2, high: 0.4 } as const;
/** How much of a new look counts: what follows from the share changes what is seen next. */
const NEW_LOOK_SHARE = 0.25;

/** How busy the event loop is, as a share that rises from 0, where there is room, to 1. */
export class LoopLoad {
  readonly #clock: Clock;
  readonly #look: () => EventLoopUtilization;
  #timer: unknown;
  #seen: EventLoopUtilization;
  #share = 0;
  #closed = false;

  /** @param look tells how the loop's time was used since the process began */
  constructor(clock: Clock, look = () => performance.eventLoopUtilization()) {
    this.#clock = clock;
    this.#look = look;
    this.#seen = look();
    this.#arm();
  }

  get share(): number {
    return this.#share;
  }

  close(): void {
    this.#closed = true;
    this.#clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    this.#timer = this.#clock.setTimeout(() => {
      if (this.#closed) return;
      const seen = this.#look();
      const { utilization } = performance.eventLoopUtilization(seen, this.#seen);
      this.#seen = seen;
      const share = Math.min(1, Math.max(0, (utilization - BUSY.low) / (BUSY.high - BUSY.low)));
      this.#share += NEW_LOOK_SHARE * (share - this.#share);
      this.#arm();
    }, LOOK_MS);
  }
}

/**
 * How much of its memory the process uses, from 0 to 1: of the heap that V8 may have, or of what its container may have,
 * whichever is nearer to its end. Costs some microseconds.
 */
export function memoryShare(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  const containerBytes = process.constrainedMemory();
  // 0, or more than the machine has, where nothing bounds it.
  const isBounded = containerBytes > 0 && containerBytes < totalmem();
  return Math.max(used / limit, isBounded ? process.memoryUsage.rss() / containerBytes : 0);
}
