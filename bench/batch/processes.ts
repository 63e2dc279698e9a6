// The processes of the batch bench: started, kept apart on the cores of the machine, and asked how much of a core they take.
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { CORES, endWithBench } from '../processes.ts';

export function start(file: URL, variables: Record<string, string> = {}, args: string[] = []): ChildProcess {
  return fork(file, args, {
    execArgv: ['--import', 'tsx', ...(process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean)],
    env: { ...process.env, ...variables },
    serialization: 'advanced',
  });
}

/** The provider's simulator as it is shipped: it takes the file apart, as the provider would. */
export async function startSimulator(root: string): Promise<{ url: string; process: ChildProcess }> {
  const args = ['bin/voxgate.js', 'simulate', 'deepgram', '--ear', 'script'];
  const child = endWithBench(spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] }));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => {
      const [found] = /http:\/\/[\w.:]+/.exec(text.toString()) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`The simulator ended with ${code}.`)));
  });
  return { url, process: child };
}

/** Puts all threads of a process onto a core. False where the machine has one only, or does not let them be put there. */
export function pin({ pid }: { pid?: number | undefined }, core: keyof typeof CORES): boolean {
  if (availableParallelism() < 2) return false;
  return spawnSync('taskset', ['-a', '-p', '-c', CORES[core], String(pid)]).status === 0;
}

export function message<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const failed = (code: number | null) => reject(new Error(`A process of the bench ended with ${code}.`));
    child.once('exit', failed);
    child.once('message', (value) => {
      child.off('exit', failed);
      resolve(value as Message);
    });
  });
}
