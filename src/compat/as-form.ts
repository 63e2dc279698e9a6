// A file that is the whole body of a request, as a form: the one way in which files are read.
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { DoorRequest } from '../http/door.ts';

/**
 * The body of a request as the `file` of a form.
 *
 * @param header what the file begins with, before the body
 */
export function asForm(
  request: DoorRequest,
  fields: readonly [string, string][],
  contentType = '',
  header: Uint8Array = new Uint8Array(0),
): DoorRequest {
  const boundary = randomBytes(18).toString('hex');
  const part = (disposition: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}${value}`;
  const type = /^[\w.+-]+\/[\w.+;= -]+$/.test(contentType) ? `\r\nContent-Type: ${contentType}` : '';
  const head = Buffer.from(
    [
      ...fields.map(([name, value]) => part(`name="${name}"`, `\r\n\r\n${value}\r\n`)),
      part('name="file"; filename="audio"', `${type}\r\n\r\n`),
    ].join(''),
  );
  const headers = new Map(request.headers).set('content-type', `multipart/form-data; boundary=${boundary}`);
  headers.delete('content-length');
  return {
    ...request,
    headers,
    body: (maxBytes) =>
      Readable.from(enclosed(Buffer.concat([head, header]), request.body(maxBytes), `\r\n--${boundary}--\r\n`)),
  };
}

async function* enclosed(head: Uint8Array, body: Readable, tail: string): AsyncGenerator<Uint8Array> {
  yield head;
  yield* body;
  yield Buffer.from(tail);
}
