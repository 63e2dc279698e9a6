// Takes `multipart/form-data` apart, strictly: every part is a field or the file, or the form is refused. Which fields there
// may be, and where the file goes, is decided by the reader of the form.

import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { type ApiError, apiError } from '../../api/errors.ts';
import { broken } from './errors.ts';

/** Longest boundary (RFC 2046, 5.1.1). */
const BOUNDARY_LENGTH_MAX = 70;
/** Largest header of a part. */
const HEADER_BYTES_MAX = 8 * 1024;
const HEADER_LINES_MAX = 16;
/** The parser keeps more, so that what it cuts off is known to be too large: a folded line of three bytes is counted as one. */
const HEADER_BYTES_KEPT = 4 * HEADER_BYTES_MAX;
const FILENAME_LENGTH_MAX = 128;

/** One part, in the order in which they arrive. */
export interface Part {
  readonly name: string;
  /** To be shown: at most 128 characters, of no use as a path. Nothing of it is told to a provider. Undefined for a plain field. */
  readonly filename: string | undefined;
  /** As the client gave it, if it is printable. */
  readonly contentType: string | undefined;
  /** Errors when the form ends within the part. */
  readonly data: Readable;
}

export interface PartHandlers {
  part(part: Part): void;
  /** The form ended as it should, and every part was read. */
  finished(): void;
  /** The form is not what it should be. May be called more than once, and nothing else follows. */
  failed(refusal: ApiError): void;
}

/** The boundary in a content type. Throws 415 for another type, 400 for a boundary that is none. */
export function boundaryOf(contentType: string | undefined): string {
  const [, type = '', rest = ''] = /^\s*([^;\s]*)\s*(.*)$/s.exec(contentType ?? '') ?? [];
  if (type.toLowerCase() !== 'multipart/form-data') {
    throw apiError(
      'unsupported_media_type',
      'The body is not `multipart/form-data`. Send the file as a form, with `model` and `file`: with curl, -F model=local/dictation-en -F file=@audio.wav.',
    );
  }
  const boundaries = parameters(rest)?.filter(([name]) => name === 'boundary') ?? [];
  const [, boundary = ''] = boundaries[0] ?? [];
  if (boundaries.length !== 1 || boundary === '' || boundary.length > BOUNDARY_LENGTH_MAX || !isPrintable(boundary)) {
    throw broken(`the content type has no boundary of 1 to ${BOUNDARY_LENGTH_MAX} characters`);
  }
  return boundary;
}

/** Refuses a body that is compressed: its real size is only known after it is unpacked. */
export function refuseContentEncoding(headers: ReadonlyMap<string, string>): void {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return;
  throw apiError(
    'unsupported_media_type',
    'The request has a `Content-Encoding`. Send the body as it is, without compression.',
  );
}

/** A parser to write the body to, and to end. */
export function createPartParser(boundary: string, handlers: PartHandlers): Dicer {
  const limits = { boundary, maxHeaderPairs: HEADER_LINES_MAX + 1, maxHeaderSize: HEADER_BYTES_KEPT };
  const parser = new Dicer(limits);
  let hasHeader = true;
  const endOfPart = () => {
    if (!hasHeader) handlers.failed(broken('a part ends within its header'));
  };
  parser.on('part', (data) => {
    endOfPart();
    hasHeader = false;
    // Told to the whole form by the parser; what reads the part must hear of it as well.
    data.on('error', () => {});
    data.on('header', (header) => {
      hasHeader = true;
      try {
        handlers.part({ ...describePart(header as PartHeader), data });
      } catch (refusal) {
        handlers.failed(refusal as ApiError);
      }
    });
  });
  parser.on('error', () => handlers.failed(broken('it ends before its closing boundary')));
  parser.on('finish', () => {
    endOfPart();
    handlers.finished();
  });
  return parser;
}

/** Lower-case names; each value is a line as it was sent, one character a byte. */
type PartHeader = Readonly<Record<string, readonly string[]>>;

/** What a part's header says. Throws an ApiError. */
export function describePart(header: PartHeader): Omit<Part, 'data'> {
  checkSize(header);
  const disposition = only(header, 'content-disposition') ?? '';
  const contentType = only(header, 'content-type');
  const [, kind = '', rest = ''] = /^\s*([^;\s]*)\s*(.*)$/s.exec(disposition) ?? [];
  const given = parameters(rest);
  if (kind.toLowerCase() !== 'form-data' || given === undefined)
    throw broken('a part has no valid `Content-Disposition: form-data`');
  const named = new Map(given);
  const name = utf8(named.get('name') ?? '');
  if (named.size !== given.length || name === '') throw broken('a part has no name, or more than one');
  if (/^\s*multipart\//i.test(contentType ?? '')) throw broken('a part is a form itself');
  const encoding = only(header, 'content-transfer-encoding')?.trim().toLowerCase() ?? 'binary';
  if (!['7bit', '8bit', 'binary'].includes(encoding)) throw broken('a part has a `Content-Transfer-Encoding`');
  const filename = named.get('filename') ?? named.get('filename*');
  return {
    name,
    filename: filename === undefined ? undefined : shownFilename(filename),
    contentType: contentType !== undefined && isPrintable(contentType) ? contentType.trim() : undefined,
  };
}

function checkSize(header: PartHeader): void {
  let lines = 0;
  let bytes = 0;
  for (const [name, values] of Object.entries(header)) {
    lines += values.length;
    for (const value of values) bytes += name.length + value.length + ': \r\n'.length;
  }
  if (bytes > HEADER_BYTES_MAX || lines > HEADER_LINES_MAX) {
    throw broken(`the header of a part has more than ${HEADER_LINES_MAX} lines or ${HEADER_BYTES_MAX} bytes`);
  }
}

function only(header: PartHeader, name: string): string | undefined {
  const [value, second] = header[name] ?? [];
  if (second !== undefined) throw broken(`a part has two headers \`${name}\``);
  return value;
}

/** `; name=value` pairs with lower-case names and unquoted values; undefined when they are anything else. */
function parameters(text: string): [name: string, value: string][] | undefined {
  const pair = /\s*;\s*([\w!#$%&'*+.^\x60|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))\s*/y;
  const pairs: [string, string][] = [];
  while (pair.lastIndex < text.length) {
    const found = pair.exec(text);
    if (found === null) return undefined;
    const [, name = '', quoted, token = ''] = found;
    pairs.push([name.toLowerCase(), quoted?.replace(/\\(["\\])/g, '$1') ?? token]);
  }
  return pairs;
}

/** As the client wrote it, without what breaks a line, turns the direction of what is read, or makes a path. */
function shownFilename(raw: string): string {
  const shown = utf8(raw)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\\/]/gu, '_')
    .trim();
  // The end is kept: it says what kind of file this is.
  return [...shown].slice(-FILENAME_LENGTH_MAX).join('') || 'audio';
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function isPrintable(text: string): boolean {
  return text.length <= 128 && /^[\x20-\x7e]*$/.test(text);
}
