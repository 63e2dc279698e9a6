// The in-process bus, held to the bus's promises.
import { expect, it } from 'vitest';
import { MemoryBus, newIncarnation } from '../../../src/cluster/bus/memory.ts';
import { busSuite } from '../../suites/bus.suite.ts';

busSuite('the in-process bus', async () => ({
  open: async () => new MemoryBus(),
  settle: async () => {},
  close: async () => {},
}));

it('gives each start of a node a separate incarnation of six characters', () => {
  const seen = new Set(Array.from({ length: 1_000 }, newIncarnation));
  expect(seen.size).toBe(1_000);
  for (const incarnation of seen) expect(incarnation).toMatch(/^[a-z0-9]{6}$/);
});
