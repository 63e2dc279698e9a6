// Whether the process that wrote a file is still there: by its id and the moment it started, so that an id that was given to
// another process since is not mistaken for it. Where that cannot be told, by how long nothing was written.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

export interface ProcessIdentity {
  pid: number;
  /** Ticks since the machine's start, where the system tells; null elsewhere. */
  startTicks: string | null;
  /** Containers that share a directory have ids of their own, and names of their own. */
  host: string;
}

export function thisProcess(): ProcessIdentity {
  return { pid: process.pid, startTicks: startTicksOf(process.pid), host: hostname() };
}

/** Undefined when it cannot be told from here: the process belongs to another host, or the system does not say. */
export function isRunning(identity: ProcessIdentity): boolean | undefined {
  if (identity.host !== hostname()) return undefined;
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    // Somebody else's process is there all the same.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  // Without a word from the system on when it began, it may be any process that has this id now.
  return identity.startTicks === null ? undefined : startTicksOf(identity.pid) === identity.startTicks;
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
