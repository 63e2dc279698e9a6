// The load and the provider of the live bench are compiled from C where it runs, so that neither is what is measured.
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CORES, endWithBench } from '../processes.ts';

const SOURCES = fileURLToPath(new URL('./native/', import.meta.url));
const HEADER = 'websocket.h';

export interface NativeProgram {
  process: ChildProcessByStdio<Writable, Readable, null>;
  lines: AsyncIterator<string>;
}

/** Compiles a program where its source is newer, and starts it on the second core. */
export function startNative(cache: string, name: string, args: readonly string[] = []): NativeProgram {
  mkdirSync(cache, { recursive: true });
  const program = join(cache, name);
  const source = join(SOURCES, `${name}.c`);
  const changedMs = Math.max(changedAt(source), changedAt(join(SOURCES, HEADER)));
  if (changedAt(program) < changedMs) execFileSync('cc', ['-O2', '-o', program, source], { stdio: 'inherit' });
  const command = ['-c', CORES.others, program, ...args];
  const child = endWithBench(spawn('taskset', command, { stdio: ['pipe', 'pipe', 'inherit'] }));
  return { process: child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

export async function nextLine({ lines, process }: NativeProgram): Promise<string> {
  const { value, done } = await lines.next();
  if (done === true) throw new Error(`${process.spawnargs.join(' ')} ended.`);
  return value;
}

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
