// Memory for audio: blocks of one size, shared by all sessions of the process and used again, because a fresh buffer per
// chunk is external memory and its collection is what stalls a loaded process. Who holds which block is the tape's matter.
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import type { SampleMemory } from '../pcm.ts';

/** 16 KiB: half a second at 16 kHz, so that a quiet session wastes little. */
export const BLOCK_SAMPLES = 8192;
export const BLOCK_BYTES = BLOCK_SAMPLES * BYTES_PER_SAMPLE;

/** Free blocks kept for reuse (64 MiB: two seconds of 1,000 sessions); further ones are left to the collector. */
const FREE_BLOCKS_MAX = 4096;

/** BLOCK_SAMPLES samples. */
export type Block = SampleMemory;

const free: Block[] = [];

/** A block with any content: only what its holder has written may be read. */
export function takeBlock(): Block {
  const reused = free.pop();
  if (reused !== undefined) return reused;
  // Not cleared: nothing is read that was not written.
  const memory = Buffer.allocUnsafeSlow(BLOCK_BYTES).buffer;
  return { samples: new Int16Array(memory), bytes: new Uint8Array(memory) };
}

/** Gives a block back; the caller keeps no view of it. */
export function giveBlock(block: Block): void {
  if (free.length < FREE_BLOCKS_MAX) free.push(block);
}
