// Where an upload waits that memory has no room for: a file that has a name for no longer than it takes to open it, so that
// nothing is left of it whatever ends the request or the process. When to spool is decided by the reader of the form.
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { refuse } from '../api/errors.ts';

/** Written from beginning to end, then read once. */
export class SpoolFile {
  readonly #file: FileHandle;
  #bytes = 0;
  #handedOver = false;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Throws the Refusal `overloaded` when the folder takes no file. */
  static async create(directory: string): Promise<SpoolFile> {
    const path = join(directory, `voxgate-${randomUUID()}.upload`);
    try {
      const file = await open(path, 'wx+', 0o600);
      await unlink(path);
      return new SpoolFile(file);
    } catch (error) {
      throw noRoom(error);
    }
  }

  /** Appends a chunk. Throws the Refusal `overloaded` when the disk is full. */
  async write(chunk: Uint8Array): Promise<void> {
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

  /** All of it. The stream takes over the file, and closes it when it ends or is destroyed. */
  read(): Readable {
    this.#handedOver = true;
    return this.#file.createReadStream({ start: 0, end: Math.max(0, this.#bytes - 1) });
  }

  /** Gives the file up, unless a stream has taken it over. Any number of times. */
  async close(): Promise<void> {
    if (this.#handedOver) return;
    this.#handedOver = true;
    await this.#file.close();
  }
}

function noRoom(cause: unknown): Error {
  const refusal = refuse(
    'overloaded',
    'This node has no room for the file right now. Send it again later, with `model` in front of `file`.',
    {
      retryAfterSeconds: 30,
    },
  );
  refusal.cause = cause;
  return refusal;
}
