// How much of its memory the process uses: of the heap that V8 may have, or of what its container may have, whichever is nearer
// to its end.
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** From 0 to 1; costs some microseconds. */
export function memoryShare(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  const containerBytes = process.constrainedMemory();
  // 0, or more than the machine has, where nothing bounds it.
  const isBounded = containerBytes > 0 && containerBytes < totalmem();
  return Math.max(used / limit, isBounded ? process.memoryUsage.rss() / containerBytes : 0);
}
