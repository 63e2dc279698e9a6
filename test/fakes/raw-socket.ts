// A client that writes bytes: HTTP and WebSocket as no library would send them. Reads replies and frames as they come.
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface RawReply {
  status: number;
  /** Lower-case names. */
  headers: Map<string, string>;
  body: string;
}

export interface RawFrame {
  fin: boolean;
  opcode: number;
  payload: Buffer;
}

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Lets this process's event loop go round, so that a server in it has read what was written before. */
export async function turns(count = 4): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export class RawSocket {
  /** Settles when the connection is over, with the error's code when it broke. */
  readonly closed: Promise<string | undefined>;
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isOver = false;
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      let code: string | undefined;
      socket.on('error', (error: NodeJS.ErrnoException) => {
        code = error.code;
      });
      socket.on('close', () => {
        this.#isOver = true;
        this.#wake();
        resolve(code);
      });
    });
  }

  static connect(port: number, { tls = false } = {}): Promise<RawSocket> {
    return new Promise((resolve, reject) => {
      const ready = () => {
        socket.off('error', reject);
        resolve(new RawSocket(socket));
      };
      const socket: Socket = tls
        ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, ready)
        : connect({ port, host: '127.0.0.1' }, ready);
      socket.once('error', reject);
    });
  }

  write(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Writes the pieces so that the server reads each of them by itself. */
  async writeApart(pieces: readonly (string | Uint8Array)[]): Promise<void> {
    for (const piece of pieces) {
      this.write(piece);
      await turns();
    }
  }

  /** Half-closes: no more will be sent. */
  end(): void {
    this.#socket.end();
  }

  /** Breaks the connection with RST. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The next HTTP reply. `hasBody` false: the reply to a HEAD. Rejects when the connection ends before it is whole. */
  reply({ hasBody = true } = {}): Promise<RawReply> {
    return this.#take((bytes) => readReply(bytes, hasBody));
  }

  /** The next frame from the server. */
  frame(): Promise<RawFrame> {
    return this.#take(readFrame);
  }

  /** What came behind the replies and frames that were taken, once the connection is over. */
  async rest(): Promise<string> {
    await this.closed;
    return this.#received.toString('latin1');
  }

  /** Sends a handshake and waits for its reply. `headers` are whole lines. */
  async handshake(path: string, headers: readonly string[] = []): Promise<RawReply> {
    this.write(handshake(path, headers));
    return this.reply();
  }

  async #take<T>(read: (bytes: Buffer) => { value: T; length: number } | undefined): Promise<T> {
    for (;;) {
      const taken = read(this.#received);
      if (taken !== undefined) {
        this.#received = this.#received.subarray(taken.length);
        return taken.value;
      }
      if (this.#isOver)
        throw new Error(`The connection ended after: ${this.#received.toString('latin1').slice(0, 200)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** A valid handshake. */
export function handshake(path: string, headers: readonly string[] = []): string {
  return [
    `GET ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
    '\r\n',
  ].join('\r\n');
}

/** A client's frame; `first` and `second` overwrite the two leading bytes for frames that nobody should send. */
export function clientFrame(
  opcode: number,
  payload: string | Uint8Array = '',
  { fin = true, rsv = 0, masked = true }: { fin?: boolean; rsv?: number; masked?: boolean } = {},
): Buffer {
  const data = Buffer.from(payload as string);
  const first = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  const maskBit = masked ? 0x80 : 0;
  const length =
    data.length < 126
      ? [maskBit | data.length]
      : data.length < 65_536
        ? [maskBit | 126, data.length >> 8, data.length & 255]
        : [
            maskBit | 127,
            0,
            0,
            0,
            0,
            data.length >>> 24,
            (data.length >> 16) & 255,
            (data.length >> 8) & 255,
            data.length & 255,
          ];
  const mask = masked ? [0x37, 0xfa, 0x21, 0x3d] : [];
  const body = masked ? data.map((byte, index) => byte ^ mask[index & 3]!) : data;
  return Buffer.concat([Buffer.from([first, ...length, ...mask]), body]);
}

/** The payload of a close frame. */
export function closePayload(code: number, reason = ''): Buffer {
  return Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]);
}

function readReply(bytes: Buffer, hasBody: boolean): { value: RawReply; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  if (hasBody && headers.get('transfer-encoding') === 'chunked') {
    const whole = readChunks(bytes, end + 4);
    return whole && { value: { status, headers, body: whole.body }, length: whole.end };
  }
  const bodyLength = hasBody && status >= 200 ? Number(headers.get('content-length') ?? 0) : 0;
  const length = end + 4 + bodyLength;
  if (bytes.length < length) return undefined;
  return { value: { status, headers, body: bytes.subarray(end + 4, length).toString('utf8') }, length };
}

/** A body in chunks without trailers; undefined as long as it is not whole. Throws if it is broken. */
function readChunks(bytes: Buffer, from: number): { body: string; end: number } | undefined {
  const pieces: Buffer[] = [];
  for (let at = from; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (Number.isNaN(size)) throw new Error(`This is not the size of a chunk: ${bytes.toString('latin1', at, line)}`);
    const end = line + 2 + size + 2;
    if (bytes.length < end) return undefined;
    if (size === 0) return { body: Buffer.concat(pieces).toString(), end };
    pieces.push(bytes.subarray(line + 2, line + 2 + size));
    at = end;
  }
}

function readFrame(bytes: Buffer): { value: RawFrame; length: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes[1]! & 127;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const size = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < start + size) return undefined;
  const value = { fin: (bytes[0]! & 0x80) !== 0, opcode: bytes[0]! & 15, payload: bytes.subarray(start, start + size) };
  return { value, length: start + size };
}
