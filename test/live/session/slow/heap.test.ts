// Sessions by the hundred in every way they can end: the heap is as it was before them.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { endings, run } from '../endings.ts';

it('leaves the heap as it was after hundreds of sessions', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const quick = endings.filter(({ withinMs }) => withinMs < 1_000);
  const each = 20;
  const round = async () => {
    for (const ending of quick) await run(ending, each);
  };
  // The first time round code is compiled and lazy things are made.
  await round();
  // What a round leaves is a leak only if every round leaves it; caches and compiled code come once.
  const growth: number[] = [];
  for (let rounds = 0; rounds < 3; rounds++) {
    const before = heapBytes();
    await round();
    growth.push(heapBytes() - before);
  }
  const bytesPerSession = Math.min(...growth) / (quick.length * each);
  expect(bytesPerSession).toBeLessThan(2_000);
});
