// A JSON request body: bounded, UTF-8, and said to be JSON.
import { refuse } from '../api/errors.ts';
import { BodyTooLarge, type DoorRequest } from './door.ts';

/** The parsed body; undefined when there is none. Throws a Refusal for anything else. */
export async function readJson(request: DoorRequest, bytesMax: number): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of request.body(bytesMax)) chunks.push(chunk as Uint8Array);
  } catch (error) {
    if (error instanceof BodyTooLarge) throw refuse('file_too_large', `The body is larger than ${bytesMax} bytes.`);
    throw error;
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.length === 0) return undefined;
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\b/i.test(type)) {
    throw refuse('unsupported_media_type', 'The body is JSON: send it with `Content-Type: application/json`.');
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw refuse('invalid_request', 'The body is not valid JSON.');
  }
}
