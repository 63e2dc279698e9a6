// Where a file of a form goes that is too large for memory: to the disk, and to a reader while it arrives where somebody can use
// it already. Its end is held back until the form is whole: with half a file no provider does anything that costs.
import { PassThrough, Readable } from 'node:stream';
import { type SpoolBudget, SpoolFile } from './spool-file.ts';
import { writeTo } from './streams.ts';

/** The buffer between an arriving file and its reader. */
const HANDED_ON_BYTES = 256 * 1024;

/** A file was read while it arrived, and more fields came behind it. */
export class FieldsFollow extends Error {
  constructor() {
    super('More fields came behind the file: what was asked for is in the whole form.');
  }
}

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
    this.stream = new PassThrough({ highWaterMark: HANDED_ON_BYTES });
    // The reader may have let go of it, or not begun to listen.
    this.stream.on('error', () => {});
  }

  /** Throws the Refusal `overloaded` where the disk has no room; a file that is handed on goes without a copy then. */
  static async open(directory: string, budget: SpoolBudget, isHandedOn: boolean): Promise<LargeFile> {
    let shortage: unknown;
    const spool = await SpoolFile.create(directory, budget).catch((error: unknown) => {
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
    await Promise.all([this.#keep(chunk), this.stream && writeTo(this.stream, chunk)]);
  }

  /** The form is whole, and nothing came behind the file. */
  end(): void {
    if (this.stream === undefined) return;
    this.stream.end();
  }

  /** The form is whole, and fields came behind the file: the reader begins anew. Throws the Refusal of the copy when there is none. */
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
      read: () => Readable.from(spool.read(), { objectMode: false }),
      readAt: (position, length) => spool.readAt(position, length),
    };
  }

  /** Whoever reads it is told why. Any number of times. */
  close(error?: Error): void {
    this.stream?.destroy(error);
    this.#dropSpool();
  }

  async #keep(chunk: Buffer): Promise<void> {
    try {
      await this.#spool?.write(chunk);
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
