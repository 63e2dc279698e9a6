// What the reader of forms needs of promises, bytes and streams: a promise settled from outside, a write that waits for room,
// text out of bytes.
import type { PassThrough } from 'node:stream';
import { fieldNotText } from './refusals.ts';

/** Of a file's beginning. */
const HEAD_BYTES = 64 * 1024;
const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function deferred<T>(): Deferred<T> {
  let settle: Pick<Deferred<T>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...(settle as Pick<Deferred<T>, 'resolve' | 'reject'>) };
}

/** Resolves when the stream takes more, also when it is gone: what is written then is dropped. */
export function writeTo(stream: PassThrough, chunk: Buffer): Promise<void> {
  if (stream.destroyed || stream.write(chunk)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
}

/** The first 64 KiB: copied, unless one chunk is all there is. Nobody changes a chunk. */
export function beginning(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  if (only !== undefined && chunks.length === 1 && only.length <= HEAD_BYTES) return only;
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat(chunks, Math.min(HEAD_BYTES, bytes));
}

/** The value of a field. Throws a Refusal when it is not UTF-8. */
export function textOf(name: string, bytes: Uint8Array): string {
  try {
    return STRICT.decode(bytes);
  } catch {
    throw fieldNotText(name);
  }
}
