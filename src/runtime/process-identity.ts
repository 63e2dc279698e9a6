// Whether the process that wrote something down is still there: by its id and the moment it started, so that an id that was given to
// another process since is not mistaken for it. Where that cannot be told, by how long nothing was written.
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isRecord } from './plain-data.ts';

export interface ProcessIdentity {
  pid: number;
  /** Ticks since the machine's start, where the system tells; null elsewhere. */
  startTicks: string | null;
  /** Containers that share a directory have ids of their own, and names of their own. */
  host: string;
  /** What its id counts in: this start of the machine, and the container's ids. Null where the system does not tell. */
  space?: string | null;
}

const space = processSpace();

export function thisProcess(): ProcessIdentity {
  return { pid: process.pid, startTicks: startTicksOf(process.pid), host: hostname(), space };
}

/** Whether what was read somewhere is one. */
export function isProcessIdentity(value: unknown): value is ProcessIdentity {
  if (!isRecord(value)) return false;
  const { pid, startTicks, host, space } = value;
  const isTextOrNull = (text: unknown) => text === null || typeof text === 'string';
  // A number that is not positive would address a process group, or all processes.
  const isId = Number.isSafeInteger(pid) && (pid as number) > 0;
  return isId && isTextOrNull(startTicks) && typeof host === 'string' && (space === undefined || isTextOrNull(space));
}

/** Undefined when it cannot be told from here: the process belongs to another host, or the system does not say. */
export function isRunning(identity: ProcessIdentity): boolean | undefined {
  if (identity.host !== hostname()) return undefined;
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    // The process of another user exists too, and its details may be hidden.
  }
  const startTicks = startTicksOf(identity.pid);
  // Without a word from the system on when it began, it may be any process that has this id now.
  return identity.startTicks === null || startTicks === null ? undefined : startTicks === identity.startTicks;
}

/**
 * Whether it has certainly ended, of a process that may be on any machine: machines that take turns in a role are often called
 * alike, and then an id says nothing of the other's processes.
 */
export function hasEnded(identity: ProcessIdentity): boolean {
  return space !== null && identity.space === space && isRunning(identity) === false;
}

function processSpace(): string | null {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null;
  }
}

/** Field 22 of /proc/<pid>/stat; the name before it may hold anything, also spaces and parentheses. */
function startTicksOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
