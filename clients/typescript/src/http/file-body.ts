// The form of an upload: as the platform's FormData where the file is at hand, else written piece by piece, so that memory stays
// flat whatever the file's size. Which fields there are is decided by transcribe.ts.
import { invalidOption } from '../errors.ts';
import { isNode } from '../runtime.ts';

/** A file that can be read as often as is needed: `fileFromPath` of `@voxgate/client/node` gives one. */
export interface FileSource {
  readonly name?: string;
  readonly type?: string;
  stream(): AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;
}

/** What can be transcribed. A stream is read once, so a request with one is never sent again. */
export type FileInput =
  | Blob
  | ArrayBuffer
  | ArrayBufferView
  | FileSource
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

export interface FilePart {
  file: FileInput;
  /** Seen by the gateway only: `audio` when absent and the file has none. */
  fileName?: string | undefined;
  /** `audio/l16;rate=16000` for headerless samples; containers are recognised by themselves. */
  contentType?: string | undefined;
  audioUrl?: undefined;
}

export interface AudioAddress {
  /** Where the gateway fetches the audio: `https://…`, or `s3://bucket/key` where the operator allows it. */
  audioUrl: string;
  file?: undefined;
  fileName?: undefined;
  contentType?: undefined;
}

/** A file, or the address of one. */
export type AudioInput = FilePart | AudioAddress;

export interface UploadBody {
  body: NonNullable<RequestInit['body']>;
  isStream: boolean;
  headers?: Readonly<Record<string, string>>;
  /** Lets go of the file, where not all of it was read. */
  release?(): void;
}

/** Whether the body can be made more than once, and how. */
export interface Upload {
  isRepeatable: boolean;
  make(): UploadBody;
}

type Fields = readonly (readonly [name: string, value: string])[];
type Pieces = AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;

/** A form without a file: the address of the audio is one of its fields. */
export function addressUpload(fields: Fields, { audioUrl }: AudioAddress): Upload {
  return { isRepeatable: true, make: () => ({ body: formOf([...fields, ['audio_url', audioUrl]]), isStream: false }) };
}

/** Fields go before the file, so that the gateway knows what to do with the bytes as they come. */
export async function uploadOf(fields: Fields, part: FilePart): Promise<Upload> {
  const { file } = part;
  if (file instanceof Blob) return formUpload(fields, part, file);
  if (file instanceof ArrayBuffer || ArrayBuffer.isView(file)) {
    return formUpload(fields, part, new Blob([file as ArrayBuffer]));
  }
  if (isSource(file)) return streamUpload(fields, part, () => file.stream(), true);
  if (!isPieces(file)) {
    throw invalidOption(
      'file',
      '`file` is a Blob, a File, bytes, a stream or an async iterable of bytes; in Node `fileFromPath` opens a path.',
    );
  }
  // Browsers send streams over HTTP/2 only, and not all of them: there the file is gathered first.
  if (!isNode()) return formUpload(fields, part, await gathered(file));
  return streamUpload(fields, part, () => file, false);
}

const isSource = (file: object): file is FileSource => 'stream' in file && typeof file.stream === 'function';
const isPieces = (file: object): file is Pieces => Symbol.asyncIterator in file || 'getReader' in file;

function formUpload(fields: Fields, { fileName, contentType }: FilePart, blob: Blob): Upload {
  const typed = contentType === undefined ? blob : new Blob([blob], { type: contentType });
  const ownName = (blob as Partial<File>).name;
  return {
    isRepeatable: true,
    make: () => {
      const form = formOf(fields);
      form.append('file', typed, fileName ?? ownName ?? 'audio');
      return { body: form, isStream: false };
    },
  };
}

function formOf(fields: Fields): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

function streamUpload(fields: Fields, part: FilePart, open: () => Pieces, isRepeatable: boolean): Upload {
  const { name, type } = part.file as FileSource;
  const fileName = part.fileName ?? name ?? 'audio';
  const contentType = part.contentType ?? (type || 'application/octet-stream');
  return {
    isRepeatable,
    make: () => {
      const boundary = `voxgate-${randomText()}`;
      const pieces = formPieces(fields, fileName, contentType, open, boundary);
      return {
        body: streamOf(pieces),
        isStream: true,
        headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
        // A source that is just waiting ends when it has something to say. One that failed has said so already.
        release: () => void pieces.return(undefined).catch(() => {}),
      };
    },
  };
}

/** Opens the file when its first piece is wanted. */
async function* formPieces(
  fields: Fields,
  fileName: string,
  contentType: string,
  open: () => Pieces,
  boundary: string,
): AsyncGenerator<Uint8Array> {
  const text = new TextEncoder();
  const part = (head: string) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n`;
  const heads = fields.map(([name, value]) => `${part(`name="${name}"`)}\r\n${value}\r\n`).join('');
  const type = contentType.replace(/[\r\n]/g, ' ');
  yield text.encode(`${heads}${part(`name="file"; filename="${quoted(fileName)}"`)}Content-Type: ${type}\r\n\r\n`);
  yield* piecesOf(open());
  yield text.encode(`\r\n--${boundary}--\r\n`);
}

/** As browsers write a file's name. */
const quoted = (name: string): string => name.replace(/["\r\n]/g, (character) => encodeURIComponent(character));

/** The bytes of a stream or an iterable, each piece checked. Ends the source when the reader stops. */
export async function* piecesOf(source: Pieces): AsyncGenerator<Uint8Array> {
  if (Symbol.asyncIterator in source) {
    for await (const piece of source) yield bytesOf(piece);
    return;
  }
  // Not every browser lets streams be iterated.
  const reader = (source as ReadableStream<Uint8Array>).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield bytesOf(next.value);
  } finally {
    await reader.cancel();
  }
}

/** The bytes of whatever holds bytes; 16-bit samples as they lie in memory, which is little-endian wherever this runs. */
export function bytesOf(data: unknown): Uint8Array {
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw invalidOption('data', 'Audio is a Uint8Array, an Int16Array, an ArrayBuffer, or a stream of these.');
}

function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}

async function gathered(file: Pieces): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of piecesOf(file)) pieces.push(piece as Uint8Array<ArrayBuffer>);
  return new Blob(pieces);
}

/** 128 random bits. `crypto.randomUUID` is for secure pages only; this is not. */
export function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
