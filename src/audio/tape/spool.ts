// Where audio waits that memory has no room for: a queue of blocks in a temporary file. Reads and writes are synchronous
// (a block is 4 KiB and the page cache takes it), so that the audio path needs no promises. When to spool is the tape's.
import { randomUUID } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { BLOCK_BYTES } from './blocks.ts';

/** Why a block was refused: no room, or a file that could not be written. */
export type SpoolShortage = QuotaShortage | 'fault';
type QuotaShortage = 'share' | 'full';

/** Blocks that are shared by organisations. */
export interface SpoolQuota {
  readonly used: number;
  /** Takes one, or says why not: the organisation has its share, or nothing is left. */
  take(organisationId: string): QuotaShortage | undefined;
  giveBack(organisationId: string, count: number): void;
}

/** A queue of blocks of `BLOCK_BYTES`, first in, first out. */
export interface Spool {
  /** Blocks held. */
  readonly length: number;
  /** Why the last `put` was refused; undefined when it was not. */
  readonly shortage: SpoolShortage | undefined;
  /** Copies a block to the end. False, and nothing kept, when there is no room for it. Never throws. */
  put(block: Uint8Array): boolean;
  /** Moves the oldest block into `block`. Throws when it cannot be read: its audio is lost. */
  take(block: Uint8Array): void;
  /** Copies a block without removing it; the oldest has index 0. Throws as `take` does. */
  read(index: number, block: Uint8Array): void;
  /** Removes the oldest block. */
  drop(): void;
  /** Forgets everything and removes the file. Any number of times. */
  close(): void;
}

export interface FileSpoolOptions {
  /** An existing folder for the files. */
  directory: string;
  /** Blocks that all spools of this folder may hold together. */
  quota: SpoolQuota;
  /** Told why a file could not be made, written or removed; the audio was refused, not lost. */
  onFault(error: Error): void;
}

/**
 * Makes spools that share one folder and one quota. A file has a name for no longer than it takes to open it: it cannot
 * outlive the process, whatever ends that, and no other process can open it.
 */
export class FileSpools {
  readonly #options: FileSpoolOptions;

  constructor(options: FileSpoolOptions) {
    this.#options = options;
  }

  /** Bytes of disk that the open spools take. */
  get bytes(): number {
    return this.#options.quota.used * BLOCK_BYTES;
  }

  /** A spool with no file yet: the first `put` makes it. */
  open(organisationId: string): Spool {
    const { quota } = this.#options;
    return new FileSpool({
      create: () => this.#attempt(() => this.#create()),
      write: (file, block, at) => this.#attempt(() => writeWhole(file, block, at)) !== undefined,
      reserve: () => quota.take(organisationId),
      release: (blocks) => quota.giveBack(organisationId, blocks),
      // ftruncate and close fail only on a broken disk; nothing can be done then but tell.
      attempt: (work) => void this.#attempt(work),
    });
  }

  #create(): number {
    const path = join(this.#options.directory, `voxgate-${randomUUID()}.pcm`);
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return file;
  }

  #attempt<Result>(work: () => Result): Result | undefined {
    try {
      return work();
    } catch (error) {
      this.#options.onFault(error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
  }
}

/** What a spool needs of its folder. */
interface Folder {
  create(): number | undefined;
  write(file: number, block: Uint8Array, at: number): boolean;
  /** Takes room for a block, or says why there is none. */
  reserve(): QuotaShortage | undefined;
  release(blocks: number): void;
  attempt(work: () => void): void;
}

class FileSpool implements Spool {
  readonly #folder: Folder;
  #file: number | undefined;
  /** Places in the file, in units of a block: those in use in the order of the queue, and those to use again. */
  #queue: number[] = [];
  #vacant: number[] = [];
  #closed = false;
  shortage: SpoolShortage | undefined;

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  get length(): number {
    return this.#queue.length;
  }

  put(block: Uint8Array): boolean {
    if (this.#closed) return false;
    this.#file ??= this.#folder.create();
    this.shortage = this.#file === undefined ? 'fault' : this.#append(this.#file, block);
    return this.shortage === undefined;
  }

  take(block: Uint8Array): void {
    this.read(0, block);
    this.drop();
  }

  read(index: number, block: Uint8Array): void {
    const place = this.#queue[index];
    if (place === undefined || this.#file === undefined) throw new Error('The audio spool is empty.');
    const read = readSync(this.#file, block, 0, BLOCK_BYTES, place * BLOCK_BYTES);
    if (read !== BLOCK_BYTES) throw new Error(`The audio spool gave ${read} of ${BLOCK_BYTES} bytes.`);
  }

  drop(): void {
    const place = this.#queue.shift();
    if (place === undefined || this.#file === undefined) return;
    this.#vacant.push(place);
    if (this.#queue.length === 0) this.#empty(this.#file);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const file = this.#file;
    this.#file = undefined;
    this.#release();
    if (file !== undefined) this.#folder.attempt(() => closeSync(file));
  }

  #append(file: number, block: Uint8Array): SpoolShortage | undefined {
    const reused = this.#vacant.pop();
    const shortage = reused === undefined ? this.#folder.reserve() : undefined;
    if (shortage !== undefined) return shortage;
    const place = reused ?? this.#queue.length;
    if (this.#folder.write(file, block, place * BLOCK_BYTES)) {
      this.#queue.push(place);
      return undefined;
    }
    if (reused === undefined) this.#folder.release(1);
    else this.#vacant.push(reused);
    return 'fault';
  }

  #empty(file: number): void {
    this.#release();
    this.#folder.attempt(() => ftruncateSync(file, 0));
  }

  #release(): void {
    this.#folder.release(this.#queue.length + this.#vacant.length);
    this.#queue = [];
    this.#vacant = [];
  }
}

function writeWhole(file: number, block: Uint8Array, at: number): true {
  let written = 0;
  while (written < BLOCK_BYTES) written += writeSync(file, block, written, BLOCK_BYTES - written, at + written);
  return true;
}
