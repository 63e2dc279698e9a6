// The processes of a bench: their processor time and memory, as the system counts them. The measured one has the first core; all
// others share the second.
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';

export const CORES = { measured: '0', others: '1' } as const;

/** Clock ticks of the kernel, in milliseconds. */
const TICK_MS = 10;

/** Processor time of all threads of a process so far, in the kernel and out of it. */
export function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Resident memory of the whole process. */
export function residentMbOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

/** How many files and sockets a process that the bench starts may have open. */
export function openFilesMax(): number {
  const [, most = '1024'] = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return Number(most);
}

/** Processor time of the whole machine so far, of all its cores. */
export const machineBusyMs = (): number => busyMsOf(readFileSync('/proc/stat', 'utf8'));

/** Everything in the first line of /proc/stat except idle time and waiting for a disk. Time of guests is in the users' already. */
export function busyMsOf(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (stat.split('\n')[0] ?? '')
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) * TICK_MS;
}

const children = new Map<ChildProcess, NodeJS.Signals>();
process.once('exit', () => {
  for (const [child, signal] of children) child.kill(signal);
});

/** Also when the bench fails or is stopped. A bench that another one started needs SIGTERM, to end its own processes. */
export function endWithBench<Child extends ChildProcess>(child: Child, signal: NodeJS.Signals = 'SIGKILL'): Child {
  children.set(child, signal);
  child.once('exit', () => children.delete(child));
  return child;
}
