// Reads the form of a transcription as a stream, in bounded memory: a small file is waited for, a large one is handed on
// while it arrives, or spooled when the field that says what to do with it has not come yet. What fields mean is the route's.
import { PassThrough, Readable } from 'node:stream';
import type { UploadedFile } from '../../transcription/file/uploaded-file.ts';
import { BodyTooLarge } from '../door.ts';
import { type Field, type FieldLimits, FormFields } from './form-fields.ts';
import { boundaryOf, createPartParser, type Part } from './parts.ts';
import { fileTooLarge, missingFile, repeatedField, unexpectedFile } from './refusals.ts';
import { type SpoolBudget, SpoolFile } from './spool-file.ts';
import { beginning, deferred, writeTo } from './streams.ts';

export interface FormLimits extends FieldLimits {
  /** Largest file. */
  fileBytesMax: number;
  /** Largest file that is waited for in memory. */
  memoryBytesMax: number;
  /** An existing folder for files that are waited for and do not fit, and what may be in it. */
  spoolDir: string;
  spoolBudget: SpoolBudget;
  /**
   * Whether a larger file is waited for although `model` came in front of it: it may be needed more than once, or its length
   * before its bytes. Asked with the fields in front of it, and its beginning.
   */
  mustKeep?(fields: readonly Field[], contentType: string | undefined, head: Uint8Array): boolean;
  /** Hears every byte of the file as it comes. */
  onFile?(chunk: Uint8Array): void;
  /** The file is discarded: a reader gets nothing. */
  isFileDropped?: boolean;
}

export interface FormFile extends UploadedFile {
  /** At most 128 printable characters of ASCII; of no use as a path. */
  readonly filename: string;
  read(): Readable;
}

export interface Form {
  /** In their order: all of them, or those in front of a file that is still arriving. */
  readonly fields: readonly Field[];
  readonly file: FormFile;
  /** The fields behind a file that was still arriving. Rejects with a Refusal when the form turns out to be broken. */
  readonly rest: Promise<readonly Field[]>;
  /** Lets go of everything. Must be called in the end, any number of times. */
  dispose(): void;
}

/**
 * Reads a form with one `file` and any fields. Resolves when the form has ended, or before that when the file is larger than
 * `memoryBytesMax`, `model` came in front of it and it need not be kept. Rejects with a Refusal for what is wrong with the form, and with the
 * body's own error when the client goes away; nothing is left behind then.
 */
export async function readForm(body: Readable, contentType: string | undefined, limits: FormLimits): Promise<Form> {
  let boundary: string;
  try {
    boundary = boundaryOf(contentType);
  } catch (refusal) {
    body.destroy();
    throw refusal;
  }
  return new FormReader(body, boundary, limits).read();
}

/** The buffer between an arriving file and its reader. */
const HANDED_ON_BYTES = 256 * 1024;

interface Outlet {
  write(chunk: Buffer): Promise<void>;
  end(): void;
}

class FormReader {
  readonly #body: Readable;
  readonly #limits: FormLimits;
  readonly #parser: ReturnType<typeof createPartParser>;
  readonly #form = deferred<Form>();
  readonly #rest = deferred<readonly Field[]>();
  readonly #fields: FormFields;
  readonly #names = new Set<string>();
  /** One promise a part, settled when it was read; none rejects. */
  readonly #reading: Promise<void>[] = [];
  readonly #parts: Readable[] = [];
  #file: { readonly part: Part; readonly held: Buffer[]; bytes: number } | undefined;
  #head: Uint8Array = new Uint8Array(0);
  #spool: SpoolFile | undefined;
  /** Waited for before a failure is told, so that nothing is left by then. */
  #settled: Promise<void> = Promise.resolve();
  /** The file on its way to the route. */
  #stream: Readable | undefined;
  #state: 'reading' | 'ended' | 'failed' = 'reading';
  /** Lets the pump go on. */
  #wake = () => {};

  constructor(body: Readable, boundary: string, limits: FormLimits) {
    this.#body = body;
    this.#limits = limits;
    this.#fields = new FormFields(limits);
    this.#parser = createPartParser(boundary, {
      part: (part) => this.#begin(part),
      finished: () => void this.#end(),
      failed: (refusal) => this.#fail(refusal),
    });
    this.#parser.on('drain', () => this.#wake());
    this.#rest.promise.catch(() => {});
  }

  read(): Promise<Form> {
    void this.#pump();
    return this.#form.promise;
  }

  async #pump(): Promise<void> {
    try {
      for await (const chunk of this.#body) {
        if (this.#state === 'failed') return;
        // Behind the closing boundary anything may follow, and means nothing.
        if (this.#state === 'reading' && !this.#parser.write(chunk)) await this.#untilAwake();
      }
      if (this.#state === 'reading') this.#parser.end();
    } catch (error) {
      this.#fail(error);
    }
  }

  #untilAwake(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** A part begins; its data follows. Throws a Refusal when it is one too many. */
  #begin(part: Part): void {
    this.#parts.push(part.data);
    const isFile = part.name === 'file';
    if (part.filename !== undefined && !isFile) throw unexpectedFile(part.name);
    if (this.#names.has(part.name) && !part.name.endsWith('[]')) throw repeatedField(part.name);
    this.#names.add(part.name);
    const reading = isFile ? this.#readFile(part) : this.#fields.read(part, this.#file !== undefined);
    this.#reading.push(reading.catch((error) => this.#fail(error)));
  }

  async #readFile(part: Part): Promise<void> {
    const { fileBytesMax, memoryBytesMax, onFile, isFileDropped } = this.#limits;
    const fieldsInFront = [...this.#reading];
    const file = { part, held: [] as Buffer[], bytes: 0 };
    this.#file = file;
    let outlet: Outlet | undefined;
    for await (const chunk of part.data) {
      file.bytes += chunk.length;
      if (file.bytes > fileBytesMax) throw fileTooLarge(fileBytesMax);
      onFile?.(chunk);
      if (isFileDropped) continue;
      file.held.push(chunk);
      if (outlet === undefined && file.bytes <= memoryBytesMax) continue;
      if (outlet === undefined) {
        await Promise.all(fieldsInFront);
        if (this.#state !== 'reading') return;
        this.#head = beginning(file.held);
        outlet = await this.#openOutlet(part);
      }
      for (const held of file.held.splice(0)) await outlet.write(held);
    }
    if (file.bytes === 0) throw missingFile('an empty file');
    outlet?.end();
  }

  /** Where a file goes that is too large to be held: to the route, if it knows what to do with it; else to the disk. */
  async #openOutlet(part: Part): Promise<Outlet> {
    const isKept = this.#limits.mustKeep?.(this.#fields.front, part.contentType, this.#head) ?? false;
    if (this.#fields.front.some(([name]) => name === 'model') && !isKept) {
      const stream = new PassThrough({ highWaterMark: HANDED_ON_BYTES });
      // The route may have let go of it, or not begun to listen.
      stream.on('error', () => {});
      this.#stream = stream;
      this.#resolve(() => stream, part, undefined);
      return { write: (chunk) => writeTo(stream, chunk), end: () => stream.end() };
    }
    const creating = SpoolFile.create(this.#limits.spoolDir, this.#limits.spoolBudget);
    this.#settled = creating.then(
      () => {},
      () => {},
    );
    const spool = await creating;
    this.#spool = spool;
    // The form was abandoned before the file could be closed.
    if (this.#state !== 'reading') await spool.close();
    return { write: (chunk) => spool.write(chunk), end: () => {} };
  }

  /** The closing boundary was read. */
  async #end(): Promise<void> {
    await Promise.all(this.#reading);
    if (this.#state !== 'reading') return;
    const file = this.#file;
    if (file === undefined) {
      this.#fail(missingFile('no file'));
      return;
    }
    this.#state = 'ended';
    this.#wake();
    if (this.#stream === undefined) {
      this.#fields.join();
      const spool = this.#spool;
      if (spool === undefined) this.#head = beginning(file.held);
      const read = () => Readable.from(spool?.read() ?? file.held, { objectMode: false });
      this.#resolve(read, file.part, file.bytes, spool === undefined ? file.held : undefined);
    }
    this.#rest.resolve(this.#fields.behind);
  }

  #resolve(
    read: () => Readable,
    { filename, contentType }: Part,
    size: number | undefined,
    pieces?: readonly Uint8Array[],
  ): void {
    const head = this.#head;
    let whole: Buffer | undefined;
    const readAt = async (position: number, length: number) => {
      if (this.#spool !== undefined) return this.#spool.readAt(position, length);
      whole ??= Buffer.concat(this.#file?.held ?? []);
      return whole.subarray(position, position + length);
    };
    this.#form.resolve({
      fields: this.#fields.front,
      file: { filename: filename ?? 'audio', contentType, size, head, pieces, read, readAt },
      rest: this.#rest.promise,
      dispose: () => this.#dispose(),
    });
  }

  #fail(cause: unknown): void {
    if (this.#state !== 'reading') return;
    this.#state = 'failed';
    const error = cause instanceof BodyTooLarge ? fileTooLarge(this.#limits.fileBytesMax) : (cause as Error);
    this.#stream?.destroy(error);
    this.#release();
    void this.#settled.then(() => {
      this.#form.reject(error);
      this.#rest.reject(error);
    });
  }

  #dispose(): void {
    this.#fail(new Error('The form was given up before it was read.'));
    this.#stream?.destroy();
    this.#release();
  }

  #release(): void {
    this.#wake();
    this.#body.destroy();
    for (const part of this.#parts) part.destroy();
    // Fails only where the system could not even close a file; no caller is left to report to.
    this.#spool?.close().catch(() => {});
  }
}
