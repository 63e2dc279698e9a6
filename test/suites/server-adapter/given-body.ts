// An answer in pieces that a test makes one by one, and a client that reads one.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Signal } from './fixture.ts';

/** A body whose pieces the test gives, and that tells what becomes of it. */
export class Given implements AsyncIterableIterator<string> {
  readonly told = new Signal<string>();
  asked = 0;
  readonly #pieces: (string | Error | undefined)[] = [];
  #wake = () => {};

  /** A piece, a failure, or the end. */
  give(...pieces: (string | Error | undefined)[]): this {
    this.#pieces.push(...pieces);
    this.#wake();
    return this;
  }

  async next(): Promise<IteratorResult<string>> {
    this.asked++;
    if (this.#pieces.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const piece = this.#pieces.shift();
    if (piece instanceof Error) throw piece;
    return piece === undefined ? { value: undefined, done: true } : { value: piece, done: false };
  }

  async return(): Promise<IteratorResult<string>> {
    this.told.add('returned');
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Opens a request and resolves with the response at its head. */
export const open = (port: number): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    httpRequest({ port, host: '127.0.0.1', agent: false }, resolve).on('error', reject).end();
  });
