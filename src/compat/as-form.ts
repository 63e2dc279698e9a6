// A file that is the whole body of a request, or a member of a JSON object, as a form: the one way in which files are read.
import type { Readable } from 'node:stream';
import type { AudioSource } from '../api/audio-source.ts';
import { apiError } from '../api/errors.ts';
import { chunksOf } from '../http/chunks.ts';
import { composedForm, type PartOf } from '../http/multipart/composed-form.ts';
import type { ServerRequest } from '../http/server.ts';
import { type JsonObject, jsonOf, objectIn } from '../vendors/kit/json.ts';

/**
 * The body of a request as the `file` of a form.
 *
 * @param header what the file begins with, before the body
 */
export function asForm(
  request: ServerRequest,
  fields: readonly [string, string][],
  contentType = '',
  header: Uint8Array = new Uint8Array(0),
): ServerRequest {
  const type = /^[\w.+-]+\/[\w.+;= -]+$/.test(contentType) ? `\r\nContent-Type: ${contentType}` : '';
  return formOf(request, 1, async function* (body, part) {
    const before = fields.map(([name, value]) => part(`name="${name}"`, `${value}\r\n`));
    yield Buffer.concat([...before, part(`name="file"; filename="audio"${type}`, ''), header]);
    yield* chunksOf(body);
  });
}

/**
 * A form without a file, whose audio is at an address.
 *
 * @param source a field of its name has the address
 */
export function addressAsForm(
  request: ServerRequest,
  fields: readonly [string, string][],
  { url, param }: AudioSource,
): ServerRequest {
  const { contentType, body } = composedForm();
  const parts = async function* (part: PartOf) {
    yield Buffer.concat(fields.map(([name, value]) => part(`name="${name}"`, `${value}\r\n`)));
    yield part(`name="${param}"`, url);
  };
  return { ...request, headers: new Map(request.headers).set('content-type', contentType), body: () => body(parts) };
}

/** All of the object but the file. */
const OTHERS_BYTES_MAX = 65_536;
/** The field that has the other members. */
export const OTHERS = 'json';

/**
 * The member of a JSON object, in base64, as the `file` of a form: what is known before, the file, and what else the object has where
 * that asks for something else: a field behind a file costs a copy of it. It is decoded as it comes, so that no more of it is held
 * than of any upload.
 *
 * @param fieldsOf what the other members ask for. Throws an ApiError.
 */
export function jsonAsForm(
  request: ServerRequest,
  member: string,
  fieldsOf: (others: JsonObject) => readonly [string, string][],
): ServerRequest {
  const fields = fieldsOf({});
  // Four characters for three bytes.
  return formOf(request, 4 / 3, async function* (body, part) {
    for (const [name, value] of fields) yield part(`name="${name}"`, `${value}\r\n`);
    yield part('name="file"; filename="audio"', '');
    const reader = new JsonFileReader(member);
    for await (const chunk of chunksOf(body)) yield* reader.take(chunk);
    const others = reader.end();
    if (JSON.stringify(fieldsOf(membersOf(others))) === JSON.stringify(fields)) return;
    yield Buffer.from('\r\n');
    yield part(`name="${OTHERS}"`, others);
  });
}

function formOf(
  request: ServerRequest,
  growth: number,
  parts: (body: Readable, part: PartOf) => AsyncGenerator<Uint8Array>,
): ServerRequest {
  const { contentType, body } = composedForm();
  const headers = new Map(request.headers).set('content-type', contentType);
  headers.delete('content-length');
  return {
    ...request,
    headers,
    body: (bytesMax) => body((part) => parts(request.body(Math.ceil(bytesMax * growth)), part)),
  };
}

/** Throws an ApiError. */
export function membersOf(text: string): JsonObject {
  const value = jsonOf(text);
  if (value === undefined) throw apiError('invalid_request', 'The body is not a JSON object or was truncated.');
  return objectIn(value);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const WHITE = ' \t\r\n';

/** Finds the file among the members, wherever it is, and gives its bytes. */
export class JsonFileReader {
  readonly #member: string;
  /** What is not the file, whose text is empty there. */
  readonly #others: number[] = [];
  #place: 'outside' | 'text' | 'escape' | 'file' = 'outside';
  #depth = 0;
  /** Where the last text began. */
  #textAt = 0;
  /** What was last outside of texts, and the text in front of it. */
  #last = '';
  #name = '';
  #isFound = false;
  /** Characters that are no whole three bytes yet. */
  #rest = '';

  constructor(member: string) {
    this.#member = member;
  }

  /** Throws an ApiError. */
  *take(chunk: Uint8Array): Iterable<Uint8Array> {
    let at = 0;
    while (at < chunk.byteLength) {
      if (this.#place === 'file') {
        const end = chunk.indexOf(QUOTE, at);
        const bytes = this.#decoded(chunk.subarray(at, end < 0 ? chunk.byteLength : end));
        if (bytes.byteLength > 0) yield bytes;
        at = end < 0 ? chunk.byteLength : end;
        if (end < 0) continue;
        this.#place = 'text';
        if (this.#rest !== '') yield Buffer.from(this.#rest, 'base64');
      } else this.#other(chunk[at++] as number);
    }
  }

  /** What was not the file, as JSON. Throws an ApiError where there was none. */
  end(): string {
    if (!this.#isFound || this.#place === 'file')
      throw apiError('missing_file', `\`${this.#member}\` is missing: the file in base64, in a JSON object.`, {
        param: this.#member,
      });
    return Buffer.from(this.#others).toString();
  }

  #other(byte: number): void {
    if (this.#others.push(byte) > OTHERS_BYTES_MAX) {
      const words = `The JSON object has more than 64 KiB beside \`${this.#member}\`.`;
      throw apiError('invalid_request', words);
    }
    if (this.#place === 'escape') this.#place = 'text';
    else if (this.#place === 'text') {
      if (byte === BACKSLASH) this.#place = 'escape';
      else if (byte === QUOTE) this.#endText();
    } else if (byte === QUOTE) this.#beginText();
    else this.#mark(String.fromCharCode(byte));
  }

  #beginText(): void {
    const isFile = this.#depth === 1 && this.#last === ':' && this.#name === this.#member && !this.#isFound;
    this.#place = isFile ? 'file' : 'text';
    this.#isFound ||= isFile;
    this.#textAt = this.#others.length;
  }

  #endText(): void {
    this.#place = 'outside';
    this.#name = this.#others.length > 256 + this.#textAt ? '' : this.#textBehind();
    this.#last = '"';
  }

  #textBehind(): string {
    return Buffer.from(this.#others.slice(this.#textAt, -1)).toString();
  }

  #mark(character: string): void {
    if (WHITE.includes(character)) return;
    if (character === '{' || character === '[') this.#depth++;
    if (character === '}' || character === ']') this.#depth--;
    this.#last = character;
  }

  #decoded(part: Uint8Array): Uint8Array {
    // Encoders may write a slash as `\/`.
    const text = this.#rest + Buffer.from(part).toString('latin1').replaceAll('\\', '');
    if (/[^A-Za-z0-9+/=]/.test(text))
      throw apiError('invalid_request', `\`${this.#member}\` is not base64.`, { param: this.#member });
    const whole = text.length - (text.length % 4);
    this.#rest = text.slice(whole);
    return Buffer.from(text.slice(0, whole), 'base64');
  }
}
