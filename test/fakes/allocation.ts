// How many bytes of the JavaScript heap a piece of work allocates, counted so that a collection meanwhile changes nothing. Memory of
// buffers is not part of it.
import { GCProfiler, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes that the thread allocates until the work has ended. */
export async function allocatedBytes(work: () => unknown): Promise<number> {
  collect();
  const profiler = new GCProfiler();
  profiler.start();
  const before = process.memoryUsage().heapUsed;
  await work();
  const after = process.memoryUsage().heapUsed;
  let collected = 0;
  for (const { beforeGC, afterGC } of profiler.stop().statistics)
    collected += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
  return after - before + collected;
}

/** Bytes that are still in use when the work has ended. */
export function keptBytes(work: () => void): number {
  collect();
  const before = process.memoryUsage().heapUsed;
  work();
  collect();
  return process.memoryUsage().heapUsed - before;
}

/** The least of several rounds: what the compiler allocates meanwhile only adds to it. */
export async function leastAllocatedBytes(rounds: number, round: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let done = 0; done < rounds; done++) least = Math.min(least, await round());
  return least;
}
