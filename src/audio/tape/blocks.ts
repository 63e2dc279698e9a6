// Memory for audio: blocks of one size, shared by all sessions of the process and used again, because a fresh buffer per
// chunk is external memory and its collection is what stalls a loaded process. Who holds which block is the tape's matter.
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import type { SampleMemory } from '../pcm.ts';

/** 4 KiB: an eighth of a second at 16 kHz, so that a session wastes little at both ends of what it holds. */
export const BLOCK_SAMPLES = 2048;
export const BLOCK_BYTES = BLOCK_SAMPLES * BYTES_PER_SAMPLE;

/** Blocks are cut from slabs of 1 MiB: one buffer for the collector, and one piece of memory for the system to take back. */
const SLAB_BLOCKS = 256;
/** Slabs without a block in use that are kept (8 MiB); further ones are left to the collector. */
const FREE_SLABS_MAX = 8;

/** BLOCK_SAMPLES samples. */
export interface Block extends SampleMemory {
  readonly slab: Slab;
}

class Slab {
  readonly free: Block[] = [];

  constructor() {
    // Not cleared: nothing is read that was not written.
    const memory = Buffer.allocUnsafeSlow(SLAB_BLOCKS * BLOCK_BYTES).buffer;
    for (let at = 0; at < memory.byteLength; at += BLOCK_BYTES) {
      const samples = new Int16Array(memory, at, BLOCK_SAMPLES);
      this.free.push({ samples, bytes: new Uint8Array(memory, at, BLOCK_BYTES), slab: this });
    }
  }

  get isUnused(): boolean {
    return this.free.length === SLAB_BLOCKS;
  }
}

export class BlockPool {
  /** Slabs with a free block. */
  readonly #open: Slab[] = [];
  #unused = 0;
  #slabs = 0;

  /** Memory of all slabs that are held. */
  get bytes(): number {
    return this.#slabs * SLAB_BLOCKS * BLOCK_BYTES;
  }

  /** A block with any content: only what its holder has written may be read. */
  take(): Block {
    const slab = this.#open.at(-1) ?? this.#add();
    if (slab.isUnused) this.#unused--;
    const block = slab.free.pop()!;
    if (slab.free.length === 0) this.#open.pop();
    return block;
  }

  /** Gives a block back; the caller keeps no view of it. */
  give(block: Block): void {
    const { slab } = block;
    if (slab.free.length === 0) this.#open.push(slab);
    slab.free.push(block);
    if (!slab.isUnused) return;
    if (this.#unused === FREE_SLABS_MAX) {
      this.#open.splice(this.#open.indexOf(slab), 1);
      this.#slabs--;
    } else {
      this.#unused++;
    }
  }

  #add(): Slab {
    const slab = new Slab();
    this.#open.push(slab);
    this.#slabs++;
    this.#unused++;
    return slab;
  }
}

const pool = new BlockPool();

/** A block of the process, with any content. */
export const takeBlock = (): Block => pool.take();

/** Gives a block back to the process; the caller keeps no view of it. */
export const giveBlock = (block: Block): void => pool.give(block);
