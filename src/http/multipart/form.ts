// Reads the form of a transcription as a stream, in bounded memory: a small file is waited for, a large one is handed on while it
// arrives, with a copy on disk in case fields come after it, or waits there whole. What fields mean is the route's.
import { finished, Readable } from 'node:stream';
import { apiError } from '../../api/errors.ts';
import type { Quota } from '../../runtime/limits/quota.ts';
import { chunksOf } from '../chunks.ts';
import { deferred } from '../deferred.ts';
import { RequestBody } from '../request-body.ts';
import { BodyTooLarge } from '../server.ts';
import { fileTooLarge, missingFile, repeatedField, unexpectedFile, withoutFile } from './errors.ts';
import { type Field, type FieldLimits, FormFields, FormMemory } from './form-fields.ts';
import { boundaryOf, createPartParser, type Part } from './parts.ts';
import { readWhole, SMALL_FORM_BYTES_MAX, smallForm } from './small-form.ts';
import { LargeFile, type SpoolBudget } from './spool-file.ts';

export interface FormLimits extends FieldLimits {
  /** Largest file. */
  fileBytesMax: number;
  /** What is wrong with the fields of a form that has no file. Throws an ApiError; a missing file is reported when it does not. */
  withoutFile?(fields: readonly Field[]): void;
  /** Largest file that is waited for in memory. */
  memoryBytesMax: number;
  /** An existing folder for files that do not fit, and what may be in it. */
  spoolDir: string;
  spoolBudget: SpoolBudget;
  /** Path at which the file stays until the caller removes it, also after a failure. */
  keptAs?: string;
  /** Of what forms hold in memory: where it has no room for the file, it goes to the disk. */
  memoryQuota: Quota;
  organisationId: string;
  /**
   * Whether a larger file is waited for although `model` came in front of it: it may be needed more than once, or its length
   * before its bytes. Asked with the fields in front of it, and its beginning.
   */
  mustKeep?(fields: readonly Field[], contentType: string | undefined, head: Uint8Array): boolean;
  /** Hears every byte of the file as it comes. */
  onFile?(chunk: Uint8Array): void;
  /** Fields that may come more than once, as all may whose names end in `[]`. */
  listNames?: readonly string[];
  /** Of another field that comes more than once the last counts; it is refused when absent. */
  takesRepeated?: boolean;
  /** The file is discarded: a reader gets nothing. */
  isFileDropped?: boolean;
  /** The name of the part that is the file; `file` when absent. */
  fileField?: string;
}

export interface FormFile extends UploadedFile {
  /** At most 128 printable characters, in any script; of no use as a path. */
  readonly filename: string;
  read(): Readable;
}

export interface Form {
  /** In their order: all of them, or those in front of a file that is still arriving. */
  readonly fields: readonly Field[];
  /**
   * One that is still arriving never ends while a field may come after it: when one does, reading it fails with `FieldsFollow`,
   * and it can be read from its beginning in the whole form.
   */
  readonly file: FormFile;
  /**
   * The form with all its fields: this one, where none came after its file. Rejects with an ApiError when the form turns out to
   * be broken, or when fields came after a file and there was no room for the copy of it.
   */
  readonly whole: Promise<Form>;
  /** Releases everything. Must be called in the end, any number of times. */
  dispose(): void;
}

/**
 * Reads a form with one file and any fields, in any order. Resolves when the form has ended, or before that when the file is
 * larger than `memoryBytesMax`, `model` came in front of it and it need not be kept. Rejects with an ApiError for what is wrong with
 * the form, and with the body's own error when the client goes away; nothing is left behind then.
 */
export async function readForm(body: Readable, contentType: string | undefined, limits: FormLimits): Promise<Form> {
  let boundary: string;
  try {
    boundary = boundaryOf(contentType);
  } catch (refusal) {
    body.destroy();
    throw refusal;
  }
  if (body instanceof RequestBody) return readBody(body, boundary, limits);
  return new FormReader(body, boundary, limits).read();
}

async function readBody(body: RequestBody, boundary: string, limits: FormLimits): Promise<Form> {
  const memory = new FormMemory(limits.memoryQuota, limits.organisationId);
  // All of it before its first byte: forms that never end are in the memory of their organisation as well.
  const whole = body.whole(SMALL_FORM_BYTES_MAX, (bytes) => memory.takeForFile(bytes));
  if (whole === undefined) return new FormReader(body, boundary, limits).read();
  try {
    const bytes = await whole;
    const form = formInMemory(bytes, boundary, limits, memory);
    if (form !== undefined) return form;
    memory.release();
    return new FormReader(readWhole(bytes), boundary, limits).read();
  } catch (error) {
    memory.release();
    throw error;
  }
}

function formInMemory(bytes: Buffer, boundary: string, limits: FormLimits, memory: FormMemory): Form | undefined {
  if (limits.isFileDropped) return undefined;
  const small = smallForm(bytes, boundary, limits);
  if (small === undefined) return undefined;
  const { fields, file, content } = small;
  const { filename = 'audio', contentType } = file;
  const form: Form = {
    fields,
    file: { ...inMemory([content]), size: content.length, filename, contentType, head: beginning([content]) },
    whole: Promise.resolve().then(() => form),
    dispose: () => memory.release(),
  };
  return form;
}

type Content = Pick<FormFile, 'read' | 'readAt' | 'size' | 'pieces' | 'arrived'>;

class FormReader {
  readonly #body: Readable;
  readonly #limits: FormLimits;
  readonly #parser: ReturnType<typeof createPartParser>;
  readonly #form = deferred<Form>();
  readonly #whole = deferred<Form>();
  readonly #fields: FormFields;
  readonly #memory: FormMemory;
  readonly #names = new Set<string>();
  /** One promise a part, settled when it was read; none rejects. */
  readonly #reading: Promise<void>[] = [];
  readonly #parts: Readable[] = [];
  #file: { readonly part: Part; readonly held: Buffer[]; bytes: number } | undefined;
  #head: Uint8Array = new Uint8Array(0);
  /** The file, where it is too large for memory. */
  #large: LargeFile | undefined;
  /** Waited for before a failure is told, so that nothing is left by then. */
  #settled: Promise<void> = Promise.resolve();
  #state: 'reading' | 'ended' | 'failed' = 'reading';

  constructor(body: Readable, boundary: string, limits: FormLimits) {
    this.#body = body;
    this.#limits = limits;
    this.#memory = new FormMemory(limits.memoryQuota, limits.organisationId);
    this.#fields = new FormFields(limits, this.#memory);
    this.#parser = createPartParser(boundary, {
      part: (part) => this.#begin(part),
      finished: () => void this.#end(),
      failed: (refusal) => this.#fail(refusal),
    });
    this.#parser.on('drain', () => this.#body.resume());
    this.#whole.promise.catch(() => {});
  }

  read(): Promise<Form> {
    this.#body.on('data', (chunk: Buffer) => this.#take(chunk));
    finished(this.#body, { writable: false }, (error) => {
      if (error) this.#fail(error);
      else if (this.#state === 'reading') this.#parser.end();
    });
    return this.#form.promise;
  }

  #take(chunk: Buffer): void {
    // Behind the closing boundary anything may follow, and means nothing.
    if (this.#state !== 'reading') return;
    try {
      if (!this.#parser.write(chunk)) this.#body.pause();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A part begins; its data follows. Throws an ApiError when it is one too many. */
  #begin(part: Part): void {
    this.#parts.push(part.data);
    const { takesRepeated, fileField } = this.#limits;
    const isFile = part.name === (fileField ?? 'file');
    if (part.filename !== undefined && !isFile) throw unexpectedFile(part.name, fileField);
    if (this.#names.has(part.name) && !this.#isList(part.name)) {
      if (isFile || takesRepeated !== true) throw repeatedField(part.name);
    }
    this.#names.add(part.name);
    const reading = isFile ? this.#readFile(part) : this.#fields.read(part, this.#file !== undefined);
    this.#reading.push(reading.catch((error) => this.#fail(error)));
  }

  #isList(name: string): boolean {
    return name.endsWith('[]') || this.#limits.listNames?.includes(name) === true;
  }

  /** Those in front of the file, in their order. */
  #fieldsInFront(): Field[] {
    const { front } = this.#fields;
    const last = new Map(front.map(([name], place) => [name, place]));
    return front.filter(([name], place) => this.#isList(name) || last.get(name) === place);
  }

  async #readFile(part: Part): Promise<void> {
    const { fileBytesMax, memoryBytesMax, onFile, isFileDropped } = this.#limits;
    const fieldsInFront = [...this.#reading];
    const file = { part, held: [] as Buffer[], bytes: 0 };
    this.#file = file;
    for await (const chunk of chunksOf(part.data)) {
      file.bytes += chunk.length;
      if (file.bytes > fileBytesMax) throw fileTooLarge(fileBytesMax);
      onFile?.(chunk);
      if (isFileDropped) continue;
      file.held.push(chunk);
      if (this.#large === undefined) {
        if (file.bytes <= memoryBytesMax && this.#memory.takeForFile(chunk.length)) continue;
        await Promise.all(fieldsInFront);
        if (this.#state !== 'reading') return;
        this.#head = beginning(file.held);
        await this.#openLarge(part);
      }
      for (const held of file.held.splice(0)) await this.#large?.write(held);
      this.#memory.giveFile();
    }
    await this.#large?.written();
    if (file.bytes === 0) throw missingFile('an empty file', this.#limits.fileField);
  }

  /** A file that is too large to be held goes to the disk, and to the route if it knows what to do with it. */
  async #openLarge({ contentType }: Part): Promise<void> {
    const front = this.#fieldsInFront();
    const { spoolDir, spoolBudget, keptAs } = this.#limits;
    const isKept = this.#limits.mustKeep?.(front, contentType, this.#head) ?? false;
    const isHandedOn = !isKept && front.some(([name]) => name === 'model');
    const opening = LargeFile.open(spoolDir, spoolBudget, isHandedOn, keptAs);
    this.#settled = opening.then(
      () => {},
      () => {},
    );
    const large = await opening;
    this.#large = large;
    const { stream } = large;
    // The form was abandoned before the file could be closed.
    if (this.#state !== 'reading') large.close();
    else if (stream !== undefined) {
      const readAt = () => Promise.reject(new Error('The file is still arriving.'));
      const arrived = () => this.#arrived();
      this.#form.resolve(this.#formOf({ read: () => stream, readAt, size: undefined, pieces: undefined, arrived }));
    }
  }

  /** The closing boundary was read. */
  async #end(): Promise<void> {
    await Promise.all(this.#reading);
    if (this.#state !== 'reading') return;
    const file = this.#file;
    if (file === undefined) return this.#fail(withoutFile(this.#fields.front, this.#limits));
    const isArriving = this.#large?.stream !== undefined;
    try {
      if (isArriving && this.#fields.behind.length > 0) this.#large?.supersede();
      else this.#large?.end();
    } catch (error) {
      return this.#fail(error);
    }
    this.#state = 'ended';
    this.#body.resume();
    if (isArriving && this.#fields.behind.length === 0) {
      this.#whole.resolve(await this.#form.promise);
      return;
    }
    this.#fields.join();
    const { held, bytes: size } = file;
    if (this.#large === undefined) this.#head = beginning(held);
    const content = this.#large?.content() ?? inMemory(held);
    const form = this.#formOf({ pieces: undefined, ...content, size });
    this.#form.resolve(form);
    this.#whole.resolve(form);
  }

  /** The copy of a file that was handed on, once all of it is here. */
  #arrived(): ReturnType<NonNullable<FormFile['arrived']>> {
    const readAt = this.#state === 'ended' ? this.#large?.readAt : undefined;
    return readAt && { readAt, size: (this.#file as { bytes: number }).bytes };
  }

  #formOf(content: Content): Form {
    const { filename = 'audio', contentType } = (this.#file as { part: Part }).part;
    return {
      fields: this.#fieldsInFront(),
      file: { ...content, filename, contentType, head: this.#head },
      whole: this.#whole.promise,
      dispose: () => this.#dispose(),
    };
  }

  #fail(cause: unknown): void {
    if (this.#state !== 'reading') return;
    this.#state = 'failed';
    const error = cause instanceof BodyTooLarge ? fileTooLarge(this.#limits.fileBytesMax) : (cause as Error);
    this.#large?.close(error);
    this.#release();
    void this.#settled.then(() => {
      this.#form.reject(error);
      this.#whole.reject(error);
    });
  }

  #dispose(): void {
    if (this.#state === 'reading') this.#fail(new Error('The form was given up before it was read.'));
    this.#release();
  }

  #release(): void {
    this.#body.destroy();
    for (const part of this.#parts) part.destroy();
    this.#memory.release();
    this.#large?.close();
  }
}

function inMemory(pieces: readonly Buffer[]): Omit<Content, 'size'> {
  let whole: Buffer | undefined;
  return {
    read: () => Readable.from(pieces, { objectMode: false }),
    readAt: async (position, length) => {
      whole ??= pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      return whole.subarray(position, position + length);
    },
    pieces,
  };
}

export interface UploadedFile {
  readonly contentType: string | undefined;
  /** Bytes, where the whole file is here. */
  readonly size: number | undefined;
  /** Its first 64 KiB, or all of a smaller file. */
  readonly head: Uint8Array;
  /** All of it, where it is in memory. */
  readonly pieces: readonly Uint8Array[] | undefined;
  /**
   * The file from its first byte on, until the upload is disposed of: any number of times where it has a `size`, else once.
   * Fails with an ApiError when the file turns out to be too large or the upload to be broken.
   */
  read(): AsyncIterable<Uint8Array>;
  /** Some of it from a position on, or less at its end. Only where it has a `size`. */
  readAt(position: number, length: number): Promise<Uint8Array>;
  /** The copy of a file without a `size`, once it has arrived; undefined before, and where no copy was kept. */
  arrived?(): { size: number; readAt: UploadedFile['readAt'] } | undefined;
}

/** The rate of headerless PCM, which says so in its content type: `audio/l16;rate=16000`, little-endian, one channel. */
export function rawRate(contentType: string | undefined): number | undefined {
  if (contentType === undefined || !/^audio\/l16\b/i.test(contentType)) return undefined;
  const parameters = new Map(
    [...contentType.matchAll(/;\s*([a-z]+)\s*=\s*"?(\d{1,6})"?/gi)].map(([, name, value]) => [
      (name as string).toLowerCase(),
      Number(value),
    ]),
  );
  const rate = parameters.get('rate') ?? 16_000;
  if (rate < 8_000 || rate > 48_000)
    throw apiError('unsupported_audio', `The part's \`rate\` is ${rate}; headerless PCM is read from 8000 to 48000.`, {
      param: 'file',
    });
  if ((parameters.get('channels') ?? 1) !== 1)
    throw apiError('unsupported_audio', 'Headerless PCM has one channel here. Mix it down, or send a WAV file.', {
      param: 'file',
    });
  return rate;
}

/** Of a file's beginning. */
const HEAD_BYTES = 64 * 1024;

/** The first 64 KiB: copied, unless one chunk is all there is. Nobody changes a chunk. */
function beginning(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1 && only.length <= HEAD_BYTES) return only;
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat(chunks, Math.min(HEAD_BYTES, bytes));
}
