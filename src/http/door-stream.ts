// A body in pieces on its way to a client: one at a time, the next when there is room for it, and an end to it when the client
// leaves, reads no more, or the body fails. How a piece is written is the door's.
import type { Reply } from './door.ts';

/** A client that takes nothing for so long is cut off. */
export const UNREAD_MS_MAX = 10_000;

/**
 * Pieces leave in slices, so that room for the next one means that the client reads: of a large piece at once, room would mean
 * that it has read all of it. At most 12 KiB of UTF-8.
 */
const SLICE_CHARS = 4_096;

type Body = Reply['body'];

/** Where the pieces go. */
export interface BodySink {
  /** Sends a piece, behind the head if it is the first; never an empty one. False: `roomy` is called when there is room again. */
  write(piece: string): boolean;
  /** The body is whole, and maybe had no piece. */
  end(): void;
  /** Drops the connection behind what was written. */
  cut(): void;
  /** Drops the connection, and what of it the client has not taken. */
  drop(): void;
}

export const isInPieces = (body: Body): body is AsyncIterable<string> =>
  typeof body === 'object' && Symbol.asyncIterator in body;

/** Destroys a body that will not be read. */
export function abandonBody(body: Body): void {
  if (isInPieces(body)) void letGo(body[Symbol.asyncIterator]());
}

/** The same pieces; `onEnd` is told once how they ended: whole or let go of, or with what they failed. */
export function watched(pieces: AsyncIterable<string>, onEnd: (failure?: { error: unknown }) => void) {
  let isOver = false;
  const over = (failure?: { error: unknown }) => {
    if (!isOver) onEnd(failure);
    isOver = true;
  };
  const iterator = pieces[Symbol.asyncIterator]();
  const body: AsyncIterableIterator<string> = {
    async next() {
      try {
        const next = await iterator.next();
        if (next.done === true) over();
        return next;
      } catch (error) {
        over({ error });
        throw error;
      }
    },
    async return() {
      over();
      await iterator.return?.();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]: () => body,
  };
  return body;
}

export class BodyStream {
  readonly #pieces: AsyncIterator<string>;
  readonly #sink: BodySink;
  readonly #onFault: (error: unknown) => void;
  #over = false;
  #wake: () => void = () => {};

  /** @param onFault hears why the pieces failed */
  constructor(pieces: AsyncIterable<string>, sink: BodySink, onFault: (error: unknown) => void) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#sink = sink;
    this.#onFault = onFault;
  }

  /** Sends the pieces. Never rejects. */
  async run(): Promise<void> {
    try {
      for (;;) {
        const next = await this.#pieces.next();
        if (this.#over) return;
        if (next.done === true) break;
        for (const slice of slicesOf(next.value)) {
          if (!this.#sink.write(slice)) await this.#room();
          if (this.#over) return;
        }
      }
      this.#over = true;
      this.#sink.end();
    } catch (error) {
      if (this.#over) return;
      this.#over = true;
      this.#onFault(error);
      this.#sink.cut();
    }
  }

  /** There is room again. */
  roomy(): void {
    this.#wake();
  }

  /** The client has left. */
  gone(): void {
    if (this.#over) return;
    this.#over = true;
    this.#wake();
    void letGo(this.#pieces);
  }

  async #room(): Promise<void> {
    if (this.#over) return;
    const timer = setTimeout(() => {
      this.gone();
      this.#sink.drop();
    }, UNREAD_MS_MAX).unref();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    clearTimeout(timer);
  }
}

/** None for an empty piece: an empty chunk would be the end. No slice ends between the halves of a surrogate pair. */
function* slicesOf(piece: string): Generator<string> {
  for (let at = 0; at < piece.length; ) {
    const end = at + SLICE_CHARS;
    const isWithinPair = end < piece.length && (piece.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    yield piece.slice(at, isWithinPair ? end - 1 : end);
    at = isWithinPair ? end - 1 : end;
  }
}

/** Ignores errors of a body that is destroyed. */
async function letGo(pieces: AsyncIterator<string>): Promise<void> {
  try {
    await pieces.return?.();
  } catch {}
}
