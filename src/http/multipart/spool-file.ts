// Where an upload waits that memory has no room for: a file that has a name for no longer than it takes to open it, so that
// nothing is left of it whatever ends the request or the process; only the file of a job that outlives both keeps its name. When to spool is
// decided by the reader of the form.
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { ApiError } from '../../api/errors.ts';
import type { Quota, Shortage } from '../../runtime/limits/quota.ts';
import { noRoom, noRoomOf } from './errors.ts';

/** Read at a time. */
const PIECE_BYTES = 256 * 1024;
/** Chunks that come while others are written are gathered up to this, and written together. */
const GATHERED_BYTES = 256 * 1024;

/** What one organisation's uploads may have of the disk, of a node's or of some of it. */
export class SpoolBudget {
  readonly #quota: Quota;
  readonly #organisationId: string;
  readonly #within: SpoolBudget | undefined;
  readonly #refusal: (shortage: Shortage) => ApiError;

  /** @param quota in bytes, of all organisations */
  constructor(
    quota: Quota,
    organisationId: string,
    within?: SpoolBudget,
    refusal: (shortage: Shortage) => ApiError = noRoomOf,
  ) {
    this.#quota = quota;
    this.#organisationId = organisationId;
    this.#within = within;
    this.#refusal = refusal;
  }

  /** Throws an ApiError when there is no room. */
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
  readonly #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  /** Never rejects. */
  #writing: Promise<void> | undefined;
  #fault: ApiError | undefined;
  #closed = false;

  private constructor(file: FileHandle, budget: SpoolBudget) {
    this.#file = file;
    this.#budget = budget;
  }

  /**
   * Throws the ApiError `overloaded` when the folder takes no file.
   *
   * @param keptAs where the file keeps its name, for whoever removes it
   */
  static async create(directory: string, budget: SpoolBudget, keptAs?: string): Promise<SpoolFile> {
    const path = keptAs ?? join(directory, `voxgate-${randomUUID()}.upload`);
    try {
      const file = await open(path, 'wx+', 0o600);
      if (keptAs === undefined) await unlink(path);
      return new SpoolFile(file, budget);
    } catch (error) {
      throw noRoom(error);
    }
  }

  /** Appends a chunk. Throws an ApiError when the disk or the budget is full. */
  async write(chunk: Uint8Array): Promise<void> {
    await this.gather(chunk);
    await this.written();
  }

  /**
   * Appends a chunk that is not changed afterwards, later: it can be read once `written` resolves. Resolves when there is room for more.
   * Throws an ApiError when the budget is full, or the disk was for an earlier chunk.
   */
  async gather(chunk: Uint8Array): Promise<void> {
    if (this.#closed) return;
    this.#budget.take(chunk.byteLength);
    this.#taken += chunk.byteLength;
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.byteLength;
    this.#writing ??= this.#writeGathered();
    if (this.#gatheredBytes >= GATHERED_BYTES) await this.#writing;
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Resolves when all of it is written. Throws an ApiError when the disk was full. */
  async written(): Promise<void> {
    await this.#writing;
    if (this.#fault !== undefined) throw this.#fault;
  }

  async #writeGathered(): Promise<void> {
    try {
      while (this.#gatheredBytes > 0 && !this.#closed) {
        const chunks = this.#gathered.splice(0);
        const bytes = this.#gatheredBytes;
        this.#gatheredBytes = 0;
        await this.#append(chunks, bytes);
      }
    } catch (error) {
      this.#fault = noRoom(error);
    }
    this.#writing = undefined;
  }

  async #append(chunks: readonly Uint8Array[], bytes: number): Promise<void> {
    const { bytesWritten } = await this.#file.writev(chunks, this.#bytes);
    this.#bytes += bytesWritten;
    if (bytesWritten === bytes) return;
    const rest = Buffer.concat(chunks).subarray(bytesWritten);
    for (let at = 0; at < rest.length; ) {
      const more = await this.#file.write(rest, at, rest.length - at, this.#bytes);
      at += more.bytesWritten;
      this.#bytes += more.bytesWritten;
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

/** The buffer between an arriving file and its reader. */
const HANDED_ON_BYTES = 256 * 1024;

/** A file was read while it arrived, and more fields came after it. */
export class FieldsFollow extends Error {
  override readonly name = 'FieldsFollow';
  constructor() {
    super('More fields came behind the file: what was asked for is in the whole form.');
  }
}

/**
 * A file of a form that is too large for memory: it goes to the disk, and to a reader while it arrives where somebody can use it
 * already. Its end is held back until the form is whole: with half a file no provider does anything that costs.
 */
export class LargeFile {
  /** The file while it arrives. */
  readonly stream: PassThrough | undefined;
  /** The file, or a copy of what went into the stream. */
  #spool: SpoolFile | undefined;
  /** Why there is no copy. */
  #shortage: unknown;

  private constructor(spool: SpoolFile | undefined, isHandedOn: boolean) {
    this.#spool = spool;
    if (!isHandedOn) return;
    // In chunks as they came: a reader of bytes is given a copy of all that waits.
    this.stream = new PassThrough({
      writableHighWaterMark: HANDED_ON_BYTES,
      readableObjectMode: true,
      readableHighWaterMark: 1,
    });
    // The reader may have let go of it, or not begun to listen.
    this.stream.on('error', () => {});
  }

  /** Throws the ApiError `overloaded` where the disk has no room; a file that is handed on goes without a copy then. */
  static async open(directory: string, budget: SpoolBudget, isHandedOn: boolean, keptAs?: string): Promise<LargeFile> {
    let shortage: unknown;
    const spool = await SpoolFile.create(directory, budget, keptAs).catch((error: unknown) => {
      if (!isHandedOn) throw error;
      shortage = error;
      return undefined;
    });
    const file = new LargeFile(spool, isHandedOn);
    file.#shortage = shortage;
    return file;
  }

  /** Resolves when there is room for more. Throws as `open` does. */
  async write(chunk: Buffer): Promise<void> {
    await Promise.all([this.#keep((spool) => spool.gather(chunk)), this.stream && writeTo(this.stream, chunk)]);
  }

  /** Resolves when all that was written is on the disk. Throws as `open` does. */
  async written(): Promise<void> {
    await this.#keep((spool) => spool.written());
  }

  /** The form is whole, and nothing came after the file. */
  end(): void {
    if (this.stream === undefined) return;
    this.stream.end();
  }

  /** The form is whole, and fields came after the file: the reader begins again. Throws the ApiError of the copy when there is none. */
  supersede(): void {
    if (this.#spool === undefined) throw this.#shortage;
    this.stream?.destroy(new FieldsFollow());
  }

  /** Some of the file from a position on, where it is kept; undefined where there was no room for the copy of a stream. */
  get readAt(): ((position: number, length: number) => Promise<Uint8Array>) | undefined {
    const spool = this.#spool;
    return spool && ((position, length) => spool.readAt(position, length));
  }

  /** The content on disk, any number of times. */
  content(): { read(): Readable; readAt(position: number, length: number): Promise<Uint8Array> } {
    const spool = this.#spool as SpoolFile;
    return {
      read: () => Readable.from(spool.read()),
      readAt: (position, length) => spool.readAt(position, length),
    };
  }

  /** Whoever reads it is told why. Any number of times. */
  close(error?: Error): void {
    this.stream?.destroy(error);
    this.#dropSpool();
  }

  async #keep(work: (spool: SpoolFile) => Promise<void>): Promise<void> {
    try {
      if (this.#spool !== undefined) await work(this.#spool);
    } catch (error) {
      if (this.stream === undefined) throw error;
      this.#shortage = error;
      this.#dropSpool();
    }
  }

  #dropSpool(): void {
    // Fails only where the system could not even close a file; no caller is left to report to.
    this.#spool?.close().catch(() => {});
    this.#spool = undefined;
  }
}

/** Resolves when the stream takes more, also when it is gone: what is written then is dropped. */
function writeTo(stream: PassThrough, chunk: Buffer): Promise<void> {
  if (stream.destroyed || stream.write(chunk)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
}
