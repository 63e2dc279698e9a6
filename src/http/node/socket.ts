// One WebSocket of the `ws` package, and what a client's frames say of themselves, read from the bytes of its connection before the
// library has gathered a message: how large it becomes, and in how many pieces it comes.

import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { GuardedSocket, UNREAD_BYTES_MAX } from '../guarded-socket.ts';
import type { Acceptance } from '../reply.ts';
import { LARGE_BYTES } from '../server.ts';

/** Of a large message so much has to come before it counts as a sign of life. */
const SIGN_OF_LIFE_BYTES = 64 * 1024;

/** One WebSocket of the `ws` package. */
export class NodeSocket extends GuardedSocket {
  readonly #webSocket: WebSocket;
  #hasQueued = false;
  readonly #heads = new FrameHeads();
  #readBytes = 0;

  protected override readonly canWait = true;

  constructor(webSocket: WebSocket, { accept, pace }: Acceptance, onFault: (error: unknown) => void) {
    super(accept, onFault, pace);
    this.#webSocket = webSocket;
    let fault = '';
    webSocket.on('message', (data, isBinary) => this.received(data as Buffer, isBinary));
    webSocket.on('pong', (data: Buffer) => this.ponged(data));
    webSocket.on('ping', (data: Buffer) => {
      if (this.pinged(data.byteLength)) this.#answerPing(data);
    });
    // What the client sent is not a WebSocket frame, or is too large; the library closes on its own.
    webSocket.on('error', (error) => {
      fault = error.message;
    });
    webSocket.on('close', (code, reason) => this.ended(code, reason.toString() || fault));
  }

  start(): void {
    this.opened();
  }

  /** Looks at what the library reads, before it does: of the pieces of a message it tells nothing until it has all. */
  watch(connection: Duplex): void {
    connection.prependListener('data', (chunk: Buffer) => {
      const heads = this.#heads;
      const before = heads.messageBytes;
      heads.read(chunk);
      const pieces = heads.takePieces();
      if (pieces > 0) this.fragmented(pieces);
      if (heads.messageBytes <= LARGE_BYTES) return;
      this.#readBytes += chunk.byteLength;
      if (heads.messageBytes === before && this.#readBytes < SIGN_OF_LIFE_BYTES) return;
      this.#readBytes = 0;
      this.arriving(heads.messageBytes, heads.isBinary);
    });
  }

  #answerPing(data: Buffer): void {
    if (this.#webSocket.readyState !== WebSocket.OPEN) return;
    this.#webSocket.pong(data, false, this.#afterWrite);
    this.#noteQueue();
    if (this.queuedBytes() > UNREAD_BYTES_MAX) this.terminate();
  }

  protected override pauseReading(): void {
    this.#webSocket.pause();
  }

  protected override resumeReading(): void {
    this.#webSocket.resume();
  }

  protected override write(text: string): boolean {
    if (this.#webSocket.readyState !== WebSocket.OPEN) return false;
    this.#webSocket.send(text, this.#afterWrite);
    this.#noteQueue();
    return true;
  }

  protected override writePing(text: string): void {
    this.#webSocket.ping(text, false, this.#afterWrite);
    this.#noteQueue();
  }

  protected override queuedBytes(): number {
    return this.#webSocket.bufferedAmount;
  }

  protected override end(code: number, reason: string): void {
    this.#webSocket.close(code, reason);
  }

  /** The close frame is on its way. */
  get isEnding(): boolean {
    return this.#webSocket.readyState === WebSocket.CLOSING;
  }

  protected override cut(): void {
    this.#webSocket.terminate();
  }

  #noteQueue(): void {
    this.#hasQueued ||= this.#webSocket.bufferedAmount > 0;
  }

  readonly #afterWrite = (): void => {
    if (!this.#hasQueued || this.#webSocket.bufferedAmount > 0) return;
    this.#hasQueued = false;
    this.flushed();
  };
}

const FRAME_HEAD_BYTES_MAX = 14;
const MASK_BYTES = 4;

export class FrameHeads {
  readonly #head = Buffer.alloc(FRAME_HEAD_BYTES_MAX);
  #filled = 0;
  #needed = 2;
  /** Of the frame that is passing. */
  #left = 0;
  #pieces = 0;
  /** What the message that is passing has announced so far; 0 between messages. */
  messageBytes = 0;
  isBinary = false;
  #isLast = true;

  /** Pieces of messages beyond their first, since it was asked. */
  takePieces(): number {
    const pieces = this.#pieces;
    this.#pieces = 0;
    return pieces;
  }

  read(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, chunk.length - at);
        at += passed;
        this.#pass(passed);
        continue;
      }
      this.#head[this.#filled++] = chunk[at++]!;
      if (this.#filled === 2) this.#needed = this.#headBytes();
      if (this.#filled === this.#needed) this.#begin();
    }
  }

  #pass(bytes: number): void {
    this.#left -= bytes;
    if (this.#left === 0 && this.#isLast) this.messageBytes = 0;
  }

  #headBytes(): number {
    const second = this.#head[1]!;
    const length = second & 0x7f;
    return 2 + (length === 127 ? 8 : length === 126 ? 2 : 0) + (second & 0x80 ? MASK_BYTES : 0);
  }

  #begin(): void {
    const [first, second] = this.#head as unknown as [number, number];
    const short = second & 0x7f;
    const length =
      short === 127 ? Number(this.#head.readBigUInt64BE(2)) : short === 126 ? this.#head.readUInt16BE(2) : short;
    this.#filled = 0;
    this.#needed = 2;
    this.#left = length;
    const opcode = first & 0x0f;
    // Control frames may come between the pieces of a message, and are no part of it.
    if (opcode > 2) return;
    if (opcode === 0) this.#pieces++;
    else {
      this.messageBytes = 0;
      this.isBinary = opcode === 2;
    }
    this.messageBytes += length;
    this.#isLast = (first & 0x80) !== 0;
    this.#pass(0);
  }
}
