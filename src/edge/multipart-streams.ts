// What the reader of forms needs of promises and streams: a promise settled from outside, and a write that waits for room.
import type { PassThrough } from 'node:stream';

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

/** Resolves when the stream takes more, also when it is gone: what is written then is for nobody. */
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
