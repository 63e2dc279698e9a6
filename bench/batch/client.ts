// The cheapest client there can be, so that on two cores it takes little from what is measured: bytes made before, on kept
// connections, one request at a time on each.
import { connect, type Socket } from 'node:net';

/** A request as it goes over the wire: the head, and the body in pieces of which each may be sent more than once. */
export interface WireRequest {
  host: string;
  port: number;
  head: Buffer;
  pieces: readonly Buffer[];
}

/** A request with a form, or with the file as its body. */
export function wireRequest(
  url: string,
  headers: Readonly<Record<string, string>>,
  pieces: readonly Buffer[],
): WireRequest {
  const { hostname, port, pathname, search } = new URL(url);
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const lines = Object.entries({ Host: `${hostname}:${port}`, ...headers, 'Content-Length': String(bytes) });
  const head = `POST ${pathname}${search} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  return { host: hostname, port: Number(port), head: Buffer.from(head), pieces };
}

/** One connection. */
export class WireClient {
  readonly #socket: Socket;
  readonly #request: WireRequest;
  #answer: Buffer = Buffer.alloc(0);
  #done: { resolve(): void; reject(error: Error): void } | undefined;

  constructor(request: WireRequest) {
    this.#request = request;
    this.#socket = connect({ host: request.host, port: request.port, noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#socket.on('error', (error) => this.#done?.reject(error));
    this.#socket.on('close', () => this.#done?.reject(new Error('The connection was closed.')));
  }

  /** Servers close connections that nobody uses for a while. */
  get isOpen(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded;
  }

  /** Sends the request, and resolves with milliseconds when its answer is whole. Rejects for any status but 200. */
  async send(): Promise<number> {
    const startedMs = performance.now();
    const answered = new Promise<void>((resolve, reject) => {
      this.#done = { resolve, reject };
    });
    const { head, pieces } = this.#request;
    const [first = Buffer.alloc(0), ...rest] = pieces;
    if (rest.length === 0) this.#socket.write(Buffer.concat([head, first]));
    else {
      this.#socket.write(head);
      for (const piece of pieces) {
        if (!this.#socket.write(piece)) await new Promise((resolve) => this.#socket.once('drain', resolve));
      }
    }
    await answered;
    return performance.now() - startedMs;
  }

  close(): void {
    this.#done = undefined;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#answer = this.#answer.length === 0 ? chunk : Buffer.concat([this.#answer, chunk]);
    const head = this.#answer.indexOf('\r\n\r\n');
    if (head === -1) return;
    const text = this.#answer.toString('latin1', 0, head);
    const [, length] = /content-length: *(\d+)/i.exec(text) ?? [];
    const isWhole =
      length === undefined
        ? this.#answer.includes('\r\n0\r\n\r\n', head)
        : this.#answer.length >= head + 4 + Number(length);
    if (!isWhole) return;
    const answer = this.#answer;
    this.#answer = Buffer.alloc(0);
    const done = this.#done;
    this.#done = undefined;
    if (text.startsWith('HTTP/1.1 200')) done?.resolve();
    else done?.reject(new Error(answer.toString('utf8').slice(0, 1_000)));
  }
}
