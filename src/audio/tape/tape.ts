// The session's audio on the client's sample clock: the part sent and not yet covered by a final (replayed when a leg
// fails), then the part ahead of the lane; each in memory first and in a spool beyond that. What leaves when is the lane's.
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import { BLOCK_BYTES, BLOCK_SAMPLES, type Block, giveBlock, takeBlock } from './blocks.ts';
import type { Spool, SpoolShortage } from './spool.ts';

interface TapeLimits {
  /** Audio ahead kept in memory, in bytes, rounded up to whole blocks. */
  memoryBytesMax: number;
  /** Audio ahead kept in the spool, in bytes. */
  spoolBytesMax: number;
  /** Audio sent and kept in memory for a replay, in samples. */
  replaySamplesMax: number;
  /** Audio sent and kept in a spool for a replay beyond that, in samples. */
  replaySpoolSamplesMax: number;
}

/**
 * Positions are samples from the beginning of the session: `start` ≤ `sent` ≤ `received`. Block number n holds the samples
 * from n × BLOCK_SAMPLES on, so a position names its place. In order of the clock: `#past` in a spool, `#head` in memory, the
 * spool of what is ahead, `#tail` in memory.
 * The tail has blocks only while the spool is in use: the block being filled, and full ones the spool did not take.
 */
export class Tape {
  readonly #limits: TapeLimits;
  readonly #openSpool: () => Spool;
  readonly #past: SpooledPast;
  #spool: Spool | undefined;
  #head: Block[] = [];
  #tail: Block[] = [];
  /** Number of the first block of the head, or of the next to come there. */
  #first = 0;
  #received = 0;
  #sent = 0;
  #sentMax = 0;
  #covered = 0;
  #start = 0;

  constructor(limits: TapeLimits, openSpool: () => Spool) {
    this.#limits = limits;
    this.#openSpool = openSpool;
    this.#past = new SpooledPast(openSpool);
  }

  /** End of what was written. */
  get received(): number {
    return this.#received;
  }

  /** Where the lane is. */
  get sent(): number {
    return this.#sent;
  }

  /** The furthest that any lane was. */
  get sentMax(): number {
    return this.#sentMax;
  }

  /** Everything before is covered by a final or given up. */
  get covered(): number {
    return this.#covered;
  }

  /** The first sample that can still be read. */
  get start(): number {
    return this.#start;
  }

  /** Bytes of memory held. */
  get memoryBytes(): number {
    return (this.#head.length + this.#tail.length) * BLOCK_BYTES + this.#past.memoryBytes;
  }

  /** Bytes of audio in spools. */
  get spooledBytes(): number {
    return (this.#blocksAhead + this.#past.length) * BLOCK_BYTES;
  }

  /** Why the spool takes no more of what is ahead; undefined where it does. */
  get shortage(): SpoolShortage | undefined {
    return this.#spool?.shortage;
  }

  /** Blocks in the spool of what is ahead. */
  get #blocksAhead(): number {
    return this.#spool?.length ?? 0;
  }

  /** Whether so many further samples may be written now. False when both memory and spool are full, or the spool fails. */
  hasRoom(samples: number): boolean {
    if (this.#tail.length > 1 && !this.#spill()) return false;
    const memoryEnd = this.#overflowing() ? this.#headEnd() : Math.max(this.#received, this.#headLimit());
    return (this.#received + samples - memoryEnd) * BYTES_PER_SAMPLE <= this.#limits.spoolBytesMax;
  }

  /** The block to write to, at sample `received % BLOCK_SAMPLES`; it has room for one sample or more. See `commit`. */
  writable(): Block {
    const last = this.#overflowing() ? this.#tail.at(-1) : this.#head.at(-1);
    if (last !== undefined && this.#received % BLOCK_SAMPLES !== 0) return last;
    const block = takeBlock();
    if (!this.#overflowing() && this.#received < this.#headLimit()) {
      this.#head.push(block);
    } else {
      // A failure to spill shows in `hasRoom` of the next push; until then the full blocks stay in memory.
      this.#spill();
      this.#tail.push(block);
    }
    return block;
  }

  /** So many samples were written to `writable()`. */
  commit(samples: number): void {
    this.#received += samples;
  }

  /** The samples from `position` on that lie together, at most `samplesMax`. Valid until the tape changes. */
  view(position: number, samplesMax: number): Int16Array {
    if (position < this.#start) throw new Error(`Sample ${position} is no longer on the tape.`);
    const block = this.#blockOf(Math.floor(position / BLOCK_SAMPLES));
    const offset = position % BLOCK_SAMPLES;
    const count = Math.min(samplesMax, BLOCK_SAMPLES - offset, this.#received - position);
    return block.samples.subarray(offset, offset + count);
  }

  /** A copy of what some lane has sent from `position` on, at most `samplesMax`. */
  copyOfSent(position: number, samplesMax: number): Int16Array {
    const samples = new Int16Array(Math.max(0, Math.min(samplesMax, this.#sentMax - position)));
    for (let count = 0; count < samples.length; ) {
      const piece = this.view(position + count, samples.length - count);
      samples.set(piece, count);
      count += piece.length;
    }
    return samples;
  }

  /** The lane has sent everything before `position`, or left it out: a replay may want that anyway. */
  advance(position: number): void {
    while (position > this.#headEnd()) this.#load();
    this.#sent = position;
    if (position > this.#sentMax) this.#sentMax = position;
    this.#release();
  }

  /** Everything before `position` is covered by a final. What no lane has sent cannot be covered. */
  trim(position: number): void {
    const covered = Math.min(Math.floor(position), this.#sentMax);
    if (!(covered > this.#covered)) return;
    this.#covered = covered;
    this.#release();
  }

  /** Goes back to the end of what is covered. Returns from where on audio was still held, and gives up what was not. */
  rewind(): { from: number; lost: { from: number; to: number } | undefined } {
    const from = Math.max(this.#covered, this.#start);
    const lost = from > this.#covered ? { from: this.#covered, to: from } : undefined;
    this.#covered = from;
    this.#sent = from;
    this.#release();
    return { from, lost };
  }

  /** Gives all memory and the spool back. Nothing may be written or read after it. */
  dispose(): void {
    for (const block of this.#head) giveBlock(block);
    for (const block of this.#tail) giveBlock(block);
    this.#head = [];
    this.#tail = [];
    this.#past.close();
    this.#spool?.close();
    this.#spool = undefined;
  }

  #blockOf(number: number): Block {
    if (number < this.#first) return this.#past.read(number);
    while (number >= this.#first + this.#head.length) this.#load();
    return this.#head[number - this.#first]!;
  }

  #overflowing(): boolean {
    return this.#tail.length > 0 || this.#blocksAhead > 0;
  }

  #headEnd(): number {
    return (this.#first + this.#head.length) * BLOCK_SAMPLES;
  }

  /** To where audio ahead may fill memory. */
  #headLimit(): number {
    return this.#sent + Math.floor(this.#limits.memoryBytesMax / BYTES_PER_SAMPLE);
  }

  /** Moves the full blocks of the tail to the spool. False when it did not take them all. */
  #spill(): boolean {
    const partial = this.#received % BLOCK_SAMPLES === 0 ? 0 : 1;
    while (this.#tail.length > partial) {
      this.#spool ??= this.#openSpool();
      const block = this.#tail[0]!;
      if (!this.#spool.put(block.bytes)) return false;
      this.#tail.shift();
      giveBlock(block);
    }
    return true;
  }

  /** Brings the next block of the overflow to the head; with the last of the spool comes the tail. */
  #load(): void {
    if (this.#spool !== undefined && this.#spool.length > 0) {
      const block = takeBlock();
      this.#spool.take(block.bytes);
      this.#head.push(block);
    } else if (this.#tail.length === 0) {
      throw new Error('Audio was read that was not received yet.');
    }
    if (this.#blocksAhead === 0) this.#head.push(...this.#tail.splice(0));
  }

  /** Gives back what neither the lane nor a replay can want, and spools what memory has no room for. */
  #release(): void {
    const { replaySamplesMax, replaySpoolSamplesMax } = this.#limits;
    const oldest = this.#sent - replaySamplesMax - replaySpoolSamplesMax;
    this.#start = Math.max(this.#start, Math.min(this.#covered, this.#sent), oldest);
    this.#giveBack();
    if (replaySpoolSamplesMax > 0) this.#spoolPast(this.#sent - replaySamplesMax);
  }

  /** Gives back everything before `#start`. */
  #giveBack(): void {
    const blocks = this.#start / BLOCK_SAMPLES;
    // With nothing left to want, the block being filled goes as well: an idle session holds no memory.
    const keep = this.#start === this.#received ? Math.ceil(blocks) : Math.floor(blocks);
    this.#past.forgetBefore(keep);
    while (this.#head.length > 0 && this.#first < keep) {
      giveBlock(this.#head.shift()!);
      this.#first++;
    }
    if (this.#head.length === 0 && this.#past.length === 0) this.#first = Math.floor(blocks);
  }

  /** Moves the blocks that end before the position to the spool. What the spool has no room for is given up, the oldest first. */
  #spoolPast(position: number): void {
    while (this.#head.length > 0 && (this.#first + 1) * BLOCK_SAMPLES <= position) {
      const block = this.#head.shift()!;
      const oldest = this.#past.put(this.#first, block.bytes);
      giveBlock(block);
      this.#first++;
      this.#start = Math.max(this.#start, oldest * BLOCK_SAMPLES);
    }
  }
}

/**
 * Sent audio that no final covers and that memory has no room for: blocks in a spool, kept in case a leg fails. Reading a block
 * leaves it there, since the next leg may fail as well. Blocks are numbered as on the tape, without gaps.
 */
class SpooledPast {
  readonly #openSpool: () => Spool;
  #spool: Spool | undefined;
  /** Number of the oldest block, where there is one. */
  #first = 0;
  /** The block that was read last. */
  #copy: { number: number; block: Block } | undefined;

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
  read(number: number): Block {
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
