// Garbage collection where V8's own choice is not ours: in a process that has one core, and in one that has nothing left to do.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../../machines/clock.ts';

/** Flags of V8 that take effect while it runs. */
export const SINGLE_CORE_FLAGS = [
  '--no-concurrent-marking',
  '--no-concurrent-sweeping',
  '--no-parallel-compaction',
  '--no-parallel-pointer-update',
] as const;

/** What a container may use, of Linux's control groups: microseconds in each period, or `max`. */
const QUOTA_FILE = '/sys/fs/cgroup/cpu.max';

/**
 * Cores that the process can keep busy at once.
 *
 * @param cores that it may run on
 * @param quota what `cpu.max` says; empty where nothing limits it
 */
export function coresWithin(cores: number, quota: string): number {
  const [allowed, period] = quota.trim().split(' ').map(Number);
  const share = Number(allowed) / Number(period);
  return share > 0 ? Math.min(cores, share) : cores;
}

/**
 * V8 marks and sweeps with a thread for each core of the machine. On a core that they share with the event loop they take most of it, and
 * the loop stands still for a fifth of a second at 1,000 sessions. There the loop collects by itself, in small steps. To be called
 * before there is much to collect.
 */
export function collectByCores(): void {
  if (coresWithin(availableParallelism(), quotaHere()) > 1) return;
  for (const flag of SINGLE_CORE_FLAGS) setFlagsFromString(flag);
}

function quotaHere(): string {
  try {
    return readFileSync(QUOTA_FILE, 'utf8');
  } catch {
    return '';
  }
}

const LOOK_MS = 5_000;
/** A loop that is active for less of its time is idle. */
const IDLE_SHARE = 0.05;
/** What is worth collecting, beyond twice what was in use after the last time. */
const SPARE_BYTES = 32 * 1024 * 1024;

export interface IdleCollectorOptions {
  clock: Clock;
  /** Live sessions of the process. */
  sessions(): number;
  collect?: () => void;
  heap?: () => { total_heap_size: number; used_heap_size: number };
  look?: () => EventLoopUtilization;
}

/**
 * Gives the system back what a rush needed. V8 collects when it allocates, so a process that has become idle would keep the
 * garbage of 1,000 ended sessions, 300 MB, until the next ones come.
 */
export class IdleCollector {
  readonly #options: Required<IdleCollectorOptions>;
  #timer: unknown;
  #seen: EventLoopUtilization;
  #neededBytes = 0;
  #closed = false;

  constructor(options: IdleCollectorOptions) {
    const look = () => performance.eventLoopUtilization();
    this.#options = { collect: collectorOfV8(), heap: getHeapStatistics, look, ...options };
    this.#seen = this.#options.look();
    this.#arm();
  }

  close(): void {
    this.#closed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      if (this.#closed) return;
      this.#check();
      this.#arm();
    }, LOOK_MS);
  }

  #check(): void {
    const { look, sessions, heap, collect } = this.#options;
    const seen = look();
    const { utilization } = performance.eventLoopUtilization(seen, this.#seen);
    this.#seen = seen;
    // Live sessions would feel the pause: 50 to 90 ms.
    if (utilization > IDLE_SHARE || sessions() > 0) return;
    if (heap().total_heap_size <= 2 * this.#neededBytes + SPARE_BYTES) return;
    collect();
    // The pages are given back by the next collection, which follows at the next look.
    this.#neededBytes = heap().used_heap_size;
  }
}

/** V8's `gc`, which a program has only where Node was started with a flag. */
function collectorOfV8(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
