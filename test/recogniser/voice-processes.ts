import { readdirSync, readFileSync } from 'node:fs';

/** Processes that this one started and that find voices, the newest last. */
export function voiceProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((one, other) => one - other)
    .filter((pid) => {
      try {
        const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
        const isChild = Number(rest.split(' ')[1]) === process.pid;
        return isChild && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('voice/worker');
      } catch {
        return false;
      }
    });
}
