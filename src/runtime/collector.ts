// Garbage collection in a process that has one core. V8 marks and sweeps with a thread for each core of the machine; on a core that they
// share with the event loop they take most of it, and the loop stands still for a fifth of a second at 1,000 sessions. There
// the loop collects by itself, in small steps.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';

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

/** To be called before there is much to collect. */
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
