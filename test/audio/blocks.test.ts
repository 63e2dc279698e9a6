// The promise that audio memory is used again, that no two holders share a block, and that the system gets back what a rush needed.
import { describe, expect, it } from 'vitest';
import { BLOCK_BYTES, BLOCK_SAMPLES, type Block, BlockPool } from '../../src/audio/tape/blocks.ts';

const MEBIBYTE = 1024 * 1024;

const taken = (pool: BlockPool, count: number): Block[] => Array.from({ length: count }, () => pool.take());

describe('memory for audio', () => {
  it('gives no two holders the same bytes', () => {
    const pool = new BlockPool();
    const blocks = taken(pool, 1_000);
    for (const [number, { samples }] of blocks.entries()) samples.fill(number);
    for (const [number, { samples, bytes }] of blocks.entries()) {
      expect([samples.length, bytes.length]).toEqual([BLOCK_SAMPLES, BLOCK_BYTES]);
      expect(samples.every((sample) => sample === number)).toBe(true);
    }
  });

  it('takes no further memory while what was given back suffices', () => {
    const pool = new BlockPool();
    let held = taken(pool, 3_000);
    const peak = pool.bytes;
    expect(peak).toBe(12 * MEBIBYTE);
    for (let round = 0; round < 100; round++) {
      const [given, kept] = [held.slice(0, 1_000), held.slice(1_000)];
      for (const block of given) pool.give(block);
      held = [...kept, ...taken(pool, 1_000)];
      expect(pool.bytes).toBe(peak);
    }
    expect(new Set(held).size).toBe(3_000);
  });

  it.each([0.25, 0.5, 0.75, 1])(
    'keeps 8 MiB at most of what a rush needed, given back in an order of its seed %d',
    (seed) => {
      const pool = new BlockPool();
      const blocks = taken(pool, 25_600);
      expect(pool.bytes).toBe(100 * MEBIBYTE);
      let random = seed;
      const next = () => (random = (random * 16_807.5) % 1);
      for (const block of blocks.toSorted(() => next() - 0.5)) pool.give(block);
      expect(pool.bytes).toBe(8 * MEBIBYTE);
      expect(new Set(taken(pool, 25_600)).size).toBe(25_600);
      expect(pool.bytes).toBe(100 * MEBIBYTE);
    },
  );
});
