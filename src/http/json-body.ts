// A JSON request body: bounded, as it is and not compressed, UTF-8, said to be JSON, and without a member that is there twice.
import { apiError, printable } from '../api/errors.ts';
import { refuseContentEncoding } from './multipart/parts.ts';
import { BodyTooLarge, type ServerRequest } from './server.ts';

/** The parsed body; undefined when there is none. Throws an ApiError for anything else. */
export async function readJson(request: ServerRequest, bytesMax: number): Promise<unknown> {
  refuseContentEncoding(request.headers);
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of request.body(bytesMax)) chunks.push(chunk as Uint8Array);
  } catch (error) {
    if (error instanceof BodyTooLarge) throw apiError('file_too_large', `The body is larger than ${bytesMax} bytes.`);
    throw error;
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.length === 0) return undefined;
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\b/i.test(type)) {
    throw apiError('unsupported_media_type', 'The body is JSON: send it with `Content-Type: application/json`.');
  }
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw apiError('invalid_request', 'The body is not valid JSON. Send one JSON object, as UTF-8.');
  }
  const twice = duplicateMember(text);
  if (twice === undefined) return value;
  throw apiError('duplicate_parameter', `\`${printable(twice)}\` is given more than once. Give it once.`, {
    param: printable(twice),
  });
}

/** Strings whole, so that nothing in them is taken for structure. */
const STRING_OR_BRACKET = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g;
/** What is nested deeper cannot be written again by whoever handles it. */
const DEPTH_MAX = 100;

/** The first member that one object of valid JSON has twice: parsers differ in which of the two they take. Throws an ApiError for depth. */
function duplicateMember(text: string): string | undefined {
  const open: Set<string>[] = [];
  let depth = 0;
  for (const [token, string, colon] of text.matchAll(STRING_OR_BRACKET)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    if (depth > DEPTH_MAX)
      throw apiError('invalid_request', `The body is nested more than ${DEPTH_MAX} deep. No request needs that.`);
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (string !== undefined && colon !== undefined) {
      const name = JSON.parse(string) as string;
      if (open.at(-1)!.has(name)) return name;
      open.at(-1)!.add(name);
    }
  }
  return undefined;
}
