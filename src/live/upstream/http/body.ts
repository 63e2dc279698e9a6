// The bodies of requests to providers: JSON, with the file in it or without, the file as it is, or a form with the file in it. Lengths are known wherever
// the file's is; the file's bytes are never gathered.
import { randomUUID } from 'node:crypto';
import type { BatchFile, HttpRequest, PlainRequest } from '../../../vendors/provider.ts';

/** A file's bytes, each chunk a buffer of its own that is not changed afterwards; a list where all of them are in memory. */
export type ReadFile = () => FileBytes;
type FileBytes = AsyncIterable<Uint8Array> | readonly Uint8Array[];

/** What is sent after a request's head. Header names in lower case. */
export interface RequestContent {
  headers: Record<string, string>;
  body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** The content of a request; what the codec says in its headers wins. Reads nothing yet. */
export function contentOf({ body }: HttpRequest, file: BatchFile, read: ReadFile): RequestContent {
  switch (body.kind) {
    case 'none':
    case 'json':
      return plainContentOf(body);
    case 'file':
      return { headers: { 'content-type': file.contentType, ...lengthOf(file.bytes) }, body: bodyOf(read()) };
    case 'json-file':
      return jsonWithFile(body.json, body.fileMember, file, read);
    case 'multipart':
      return formOf(body.fields, body.fileField, file, read);
  }
}

/** The content of a request that carries no file. */
export function plainContentOf(body: PlainRequest['body']): RequestContent {
  if (body.kind === 'none') return { headers: {}, body: undefined };
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body.json) };
}

function formOf(
  fields: readonly (readonly [string, string])[],
  fileField: string,
  file: BatchFile,
  read: ReadFile,
): RequestContent {
  const boundary = `voxgate-${randomUUID()}`;
  const disposition = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`;
  const front = fields.map(([name, value]) => `${disposition(name)}\r\n\r\n${value}\r\n`).join('');
  const head = `${disposition(fileField)}; filename="${escaped(file.name)}"\r\nContent-Type: ${file.contentType}\r\n\r\n`;
  const before = Buffer.from(front + head);
  const after = Buffer.from(`\r\n--${boundary}--\r\n`);
  const bytes = file.bytes === undefined ? undefined : before.length + file.bytes + after.length;
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, ...lengthOf(bytes) },
    body: bodyOf(read(), [before], [after]),
  };
}

function jsonWithFile(
  json: Readonly<Record<string, unknown>>,
  member: string,
  file: BatchFile,
  read: ReadFile,
): RequestContent {
  const [before, after] = JSON.stringify({ ...json, [member]: '' }).split(/(?<=")(?="}$)/) as [string, string];
  const [head, tail] = [Buffer.from(before), Buffer.from(after)];
  const length = file.bytes === undefined ? undefined : head.length + 4 * Math.ceil(file.bytes / 3) + tail.length;
  const bytes = read();
  return {
    headers: { 'content-type': 'application/json', ...lengthOf(length) },
    body: isInMemory(bytes)
      ? bodyOf([Buffer.from(Buffer.concat(bytes).toString('base64'))], [head], [tail])
      : framed([head], inBase64(bytes), [tail]),
  };
}

async function* inBase64(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const all = Buffer.concat([rest, chunk]);
    const whole = all.length - (all.length % 3);
    rest = all.subarray(whole);
    yield Buffer.from(all.subarray(0, whole).toString('base64'));
  }
  yield Buffer.from(rest.toString('base64'));
}

/** What is in memory goes out in one piece: a stream would cost more than a small file's way to the provider. */
function bodyOf(
  bytes: FileBytes,
  before: readonly Uint8Array[] = [],
  after: readonly Uint8Array[] = [],
): Uint8Array | AsyncIterable<Uint8Array> {
  return isInMemory(bytes) ? Buffer.concat([...before, ...bytes, ...after]) : framed(before, bytes, after);
}

const isInMemory = (bytes: FileBytes): bytes is readonly Uint8Array[] => Array.isArray(bytes);

async function* framed(
  before: readonly Uint8Array[],
  bytes: AsyncIterable<Uint8Array>,
  after: readonly Uint8Array[],
): AsyncGenerator<Uint8Array> {
  yield* before;
  yield* bytes;
  yield* after;
}

const lengthOf = (bytes: number | undefined): Record<string, string> =>
  bytes === undefined ? {} : { 'content-length': String(bytes) };

/** As browsers write names of fields. */
const escaped = (name: string): string =>
  name.replace(/["\r\n]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
