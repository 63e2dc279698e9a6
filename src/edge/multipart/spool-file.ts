// Where an upload waits that memory has no room for: a file that has a name for no longer than it takes to open it, so that
// nothing is left of it whatever ends the request or the process. When to spool is decided by the reader of the form.
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Refusal } from '../../api/errors.ts';
import { noRoom } from './refusals.ts';

/** Read at a time. */
const PIECE_BYTES = 64 * 1024;

/** What all uploads of a node may have on disk together, or some of them within that. */
export class SpoolBudget {
  readonly #bytesMax: number;
  readonly #within: SpoolBudget | undefined;
  readonly #refusal: () => Refusal;
  #bytes = 0;

  /** @param refusal of what this budget has no room for; `overloaded` when absent */
  constructor(bytesMax: number, within?: SpoolBudget, refusal: () => Refusal = noRoom) {
    this.#bytesMax = bytesMax;
    this.#within = within;
    this.#refusal = refusal;
  }

  /** Bytes on disk now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws a Refusal, `overloaded` unless it is another one, when there is no room. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) throw this.#refusal();
    this.#within?.take(bytes);
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
    this.#within?.give(bytes);
  }
}

/** Written from beginning to end, then read any number of times until it is closed. */
export class SpoolFile {
  readonly #file: FileHandle;
  readonly #budget: SpoolBudget;
  #bytes = 0;
  #taken = 0;
  #closed = false;

  private constructor(file: FileHandle, budget: SpoolBudget) {
    this.#file = file;
    this.#budget = budget;
  }

  /** Throws the Refusal `overloaded` when the folder takes no file. */
  static async create(directory: string, budget: SpoolBudget): Promise<SpoolFile> {
    const path = join(directory, `voxgate-${randomUUID()}.upload`);
    try {
      const file = await open(path, 'wx+', 0o600);
      await unlink(path);
      return new SpoolFile(file, budget);
    } catch (error) {
      throw noRoom(error);
    }
  }

  /** Appends a chunk. Throws the Refusal `overloaded` when the disk or the budget is full. */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.#closed) return;
    this.#budget.take(chunk.byteLength);
    this.#taken += chunk.byteLength;
    let written = 0;
    while (written < chunk.byteLength) {
      try {
        const { bytesWritten } = await this.#file.write(chunk, written, chunk.byteLength - written, this.#bytes);
        written += bytesWritten;
        this.#bytes += bytesWritten;
      } catch (error) {
        throw noRoom(error);
      }
    }
  }

  /** All of it, in buffers that are not used again. Fails when the file is closed meanwhile. */
  async *read(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.#bytes; ) {
      const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, at);
      if (bytesRead === 0) throw new Error('A spooled upload is shorter than it was written.');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Some of it, or less at its end. Fails when the file is closed meanwhile. */
  async readAt(position: number, length: number): Promise<Uint8Array> {
    const { bytesRead, buffer } = await this.#file.read(Buffer.allocUnsafe(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  }

  /** Gives the file up, and what it takes of the disk. Any number of times. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#budget.give(this.#taken);
    await this.#file.close();
  }
}
