// A form that is made here, of a file that came in another way: the one way in which files are read.
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

/** A part without its end: what follows it, up to the next part, is its content. */
export type PartOf = (disposition: string, value: string) => Uint8Array;

interface ComposedForm {
  readonly contentType: string;
  /** Once. @param parts each but the first begins on a new line */
  body(parts: (part: PartOf) => AsyncIterable<Uint8Array>): Readable;
}

export function composedForm(): ComposedForm {
  // Of no content: it has 144 random bits.
  const boundary = randomBytes(18).toString('hex');
  const part: PartOf = (disposition, value) =>
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}`);
  const whole = async function* (parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield* parts;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  };
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: (parts) => Readable.from(whole(parts(part))),
  };
}
