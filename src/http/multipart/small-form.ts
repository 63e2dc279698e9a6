// A small form that is here whole, read from one buffer: the same form as its reader makes of it, without a stream for each part.
// Only forms as clients write them; anything else, and anything that would be refused, is left to the reader.
import { Readable } from 'node:stream';
import { type Field, type FieldLimits, textOf } from './form-fields.ts';
import { describePart, type Part } from './parts.ts';

/** Larger bodies are read as streams. */
export const SMALL_FORM_BYTES_MAX = 256 * 1024;
/** Clients that upload audio send shorter headers with each part. */
const HEADER_BYTES_MAX = 1024;
const HEADER_LINE = /^([\w-]+): ?(.*)$/;

/** Some of `FormLimits`. */
interface SmallFormLimits extends FieldLimits {
  fileBytesMax: number;
  memoryBytesMax: number;
  fileField?: string;
  onFile?(chunk: Uint8Array): void;
}

export interface SmallForm {
  fields: Field[];
  file: Pick<Part, 'contentType' | 'filename'>;
  content: Buffer;
}

/** Undefined where the reader is to decide. */
export function smallForm(body: Buffer, boundary: string, limits: SmallFormLimits): SmallForm | undefined {
  const parts = partsOf(body, boundary, limits.fieldsMax);
  if (parts === undefined) return undefined;
  const { fileField = 'file', fieldBytesMax, fieldsBytesMax, fileBytesMax, memoryBytesMax } = limits;
  const fields: Field[] = [];
  const names = new Set<string>();
  let file: { part: Omit<Part, 'data'>; content: Buffer } | undefined;
  let fieldBytes = 0;
  for (const { part, content } of parts) {
    const { name, filename } = part;
    const isFile = name === fileField;
    if ((filename !== undefined && !isFile) || (names.has(name) && (isFile || !name.endsWith('[]')))) return undefined;
    names.add(name);
    if (isFile) file = { part, content };
    else {
      const text = readText(name, content);
      if (text === undefined || content.length > fieldBytesMax) return undefined;
      fieldBytes += content.length;
      fields.push([name, text]);
    }
  }
  const fileBytes = file?.content.length ?? 0;
  if (file === undefined || fileBytes === 0 || fileBytes > Math.min(fileBytesMax, memoryBytesMax)) return undefined;
  if (fieldBytes > fieldsBytesMax) return undefined;
  limits.onFile?.(file.content);
  return { fields, file: file.part, content: file.content };
}

export const readWhole = (content: Buffer): Readable => Readable.from([content], { objectMode: false });

interface WholePart {
  part: Omit<Part, 'data'>;
  content: Buffer;
}

function partsOf(body: Buffer, boundary: string, fieldsMax: number): WholePart[] | undefined {
  const first = `--${boundary}`;
  const delimiter = Buffer.from(`\r\n${first}`, 'latin1');
  if (body.toString('latin1', 0, first.length) !== first) return undefined;
  const parts: WholePart[] = [];
  let at = first.length;
  while (body[at] === CR && body[at + 1] === LF) {
    if (parts.length > fieldsMax) return undefined;
    const headerEnd = body.indexOf('\r\n\r\n', at, 'latin1');
    if (headerEnd === -1 || headerEnd - at > HEADER_BYTES_MAX) return undefined;
    const part = partOf(body.toString('latin1', at + 2, headerEnd), first);
    const start = headerEnd + 4;
    const end = body.indexOf(delimiter, start);
    if (part === undefined || end === -1 || body.toString('latin1', start, start + first.length) === first)
      return undefined;
    parts.push({ part, content: body.subarray(start, end) });
    at = end + delimiter.length;
  }
  // What may follow means nothing, but is not usual.
  const isClosed = body.toString('latin1', at, at + 2) === '--';
  const rest = body.toString('latin1', at + 2, at + 5);
  return isClosed && (rest === '' || rest === '\r\n') ? parts : undefined;
}

const CR = 13;
const LF = 10;

function partOf(header: string, first: string): Omit<Part, 'data'> | undefined {
  if (header.includes(first)) return undefined;
  const values: Record<string, string[]> = {};
  for (const line of header.split('\r\n')) {
    const [, name = '', value = ''] = HEADER_LINE.exec(line) ?? [];
    const lower = name.toLowerCase();
    if (name === '' || /[\r\n\t]/.test(value) || Object.hasOwn(values, lower)) return undefined;
    values[lower] = [value];
  }
  try {
    return describePart(values);
  } catch {
    return undefined;
  }
}

function readText(name: string, content: Buffer): string | undefined {
  try {
    return textOf(name, content);
  } catch {
    return undefined;
  }
}
