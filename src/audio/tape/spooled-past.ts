// Sent audio that no final covers and that memory has no room for: blocks in a spool, kept in case a leg fails. Reading a block
// leaves it there, since the next leg may fail as well.
import type { SampleMemory } from '../pcm.ts';
import { BLOCK_BYTES, giveBlock, takeBlock } from './blocks.ts';
import type { Spool } from './spool.ts';

/** Blocks are numbered as on the tape, without gaps. */
export class SpooledPast {
  readonly #openSpool: () => Spool;
  #spool: Spool | undefined;
  /** Number of the oldest block, where there is one. */
  #first = 0;
  /** The block that was read last. */
  #copy: { number: number; block: SampleMemory } | undefined;

  constructor(openSpool: () => Spool) {
    this.#openSpool = openSpool;
  }

  /** Blocks held. */
  get length(): number {
    return this.#spool?.length ?? 0;
  }

  get memoryBytes(): number {
    return this.#copy === undefined ? 0 : BLOCK_BYTES;
  }

  /**
   * Keeps the next block. Where the spool is full, the oldest blocks make room.
   *
   * @returns the number of the oldest block that is left: higher than `number` where this one could not be kept either
   */
  put(number: number, bytes: Uint8Array): number {
    this.#spool ??= this.#openSpool();
    if (this.length === 0) this.#first = number;
    while (!this.#spool.put(bytes)) {
      if (this.length === 0) return number + 1;
      this.#dropOldest(this.#spool);
    }
    return this.#first;
  }

  /** The block, valid until another is read. Throws when it cannot be read: its audio is lost. */
  read(number: number): SampleMemory {
    if (this.#copy?.number === number) return this.#copy.block;
    const block = this.#copy?.block ?? takeBlock();
    this.#copy = undefined;
    try {
      if (this.#spool === undefined) throw new Error('No audio was spooled.');
      this.#spool.read(number - this.#first, block.bytes);
    } catch (error) {
      giveBlock(block);
      throw error;
    }
    this.#copy = { number, block };
    return block;
  }

  /** Blocks before `number` are not needed any more. */
  forgetBefore(number: number): void {
    const spool = this.#spool;
    if (spool === undefined) return;
    while (spool.length > 0 && this.#first < number) this.#dropOldest(spool);
    if (spool.length === 0) this.#forgetCopy();
  }

  /** Gives memory and the spool back. */
  close(): void {
    this.#forgetCopy();
    this.#spool?.close();
    this.#spool = undefined;
  }

  #dropOldest(spool: Spool): void {
    spool.drop();
    this.#first++;
  }

  #forgetCopy(): void {
    if (this.#copy !== undefined) giveBlock(this.#copy.block);
    this.#copy = undefined;
  }
}
