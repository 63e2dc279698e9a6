// What every process that runs a model does at its start.
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** @param niceness above that of the gateway: its sockets go first */
export function beginModelProcess(niceness: number): void {
  setPriority(niceness);
  goFirstWhenMemoryRunsOut();
  process.on('disconnect', () => process.exit(0));
  // The signal reaches all processes of a terminal: the one that started this one decides when it ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
}

/** A model can be loaded again; the sessions of the gateway cannot. */
function goFirstWhenMemoryRunsOut(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Other systems have no such file.
  }
}
