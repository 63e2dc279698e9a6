// How a handler's answer leaves. Faults become the reply of `onFault`, and headers that would break the message are a fault. A body in
// pieces is sent one at a time, the next when there is room for it, and ends when the client leaves, reads no more, or the body fails.
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { HttpServerOptions, Reply, UpgradeAnswer, WholeReply } from './server.ts';

export type Acceptance = Extract<UpgradeAnswer, { accept: unknown }>;

/** Headers that belong to the connection or to the framing of the message; the server sets them itself. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** Asks a handler; when it rejects, or answers with headers that cannot be written, the answer is that of `onFault`. */
export async function answerOf(ask: () => Promise<Reply>, options: HttpServerOptions): Promise<Reply> {
  let reply: Reply | undefined;
  try {
    reply = await ask();
    checkHeaders(reply.headers);
    return reply;
  } catch (error) {
    abandonBody(reply?.body);
    return faultReply(error, options);
  }
}

/** The same for a handshake. */
export async function handshakeOf(
  ask: () => Promise<UpgradeAnswer>,
  options: HttpServerOptions,
): Promise<UpgradeAnswer> {
  try {
    const answer = await ask();
    checkHeaders('accept' in answer ? handshakeHeaders(answer) : answer.refuse.headers);
    return answer;
  } catch (error) {
    return { refuse: faultReply(error, options) };
  }
}

/** What the answer to an accepted handshake says beside the library's own headers. */
export function handshakeHeaders({ protocol, headers = {} }: Acceptance): Record<string, string> {
  return protocol === undefined ? headers : { ...headers, 'Sec-WebSocket-Protocol': protocol };
}

/** The reply of `onFault`, or a bare 500 when even that fails. */
export function faultReply(error: unknown, options: HttpServerOptions): WholeReply {
  try {
    const reply = options.onFault(error);
    checkHeaders(reply.headers);
    return reply;
  } catch {
    return { status: 500 };
  }
}

/** Throws on a name or value that cannot stand in a header: a line break there would forge headers. */
function checkHeaders(headers: Record<string, string> = {}): void {
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
}

/** The headers to write beside those that the server sets itself. */
export function writableHeaders(headers: Record<string, string> = {}): [name: string, value: string][] {
  return Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()));
}

export function statusLine(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}

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
