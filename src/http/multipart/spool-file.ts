// Where an upload waits that memory has no room for: a file that has a name for no longer than it takes to open it, so that
// nothing is left of it whatever ends the request or the process. When to spool is decided by the reader of the form.
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Refusal } from '../../api/errors.ts';
import type { FairQuota, Shortage } from '../../runtime/limits/fair-quota.ts';
import { noRoom, noRoomOf } from './refusals.ts';

/** Read at a time. */
const PIECE_BYTES = 64 * 1024;

/** What one organisation's uploads may have of the disk, of a node's or of some of it. */
export class SpoolBudget {
  readonly #quota: FairQuota;
  readonly #organisationId: string;
  readonly #within: SpoolBudget | undefined;
  readonly #refusal: (shortage: Shortage) => Refusal;

  /** @param quota in bytes, of all organisations */
  constructor(
    quota: FairQuota,
    organisationId: string,
    within?: SpoolBudget,
    refusal: (shortage: Shortage) => Refusal = noRoomOf,
  ) {
    this.#quota = quota;
    this.#organisationId = organisationId;
    this.#within = within;
    this.#refusal = refusal;
  }

  /** Throws a Refusal when there is no room. */
  take(bytes: number): void {
    const shortage = this.#quota.shortage(this.#organisationId, bytes);
    if (shortage !== undefined) throw this.#refusal(shortage);
    this.#within?.take(bytes);
    this.#quota.count(this.#organisationId, bytes);
  }

  give(bytes: number): void {
    this.#quota.giveBack(this.#organisationId, bytes);
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

  /** Appends a chunk. Throws a Refusal when the disk or the budget is full. */
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
