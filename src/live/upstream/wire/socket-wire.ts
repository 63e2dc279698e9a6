// A leg's connection over a WebSocket.

import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import WebSocket from 'ws';
import type { Clock } from '../../../../machines/clock.ts';
import type { DemandedFault } from '../../../../machines/events.ts';
import { IdleTimer } from '../../../runtime/timeouts.ts';
import { jsonOf } from '../../../vendors/kit/json.ts';
import type { Incoming, Outgoing, ProviderRefusal, SocketEndpoint } from '../../../vendors/kit/provider.ts';
import { demandText, SIMULATED_HEADER } from '../../../vendors/kit/simulated-wire.ts';
import { joinedHeaders } from '../http/exchange.ts';
import { CLOSE_MS, MESSAGE_BYTES_MAX, type Wire, type WireListener } from './wire.ts';

/** Fragments of one message. */
const FRAGMENTS_MAX = 64;
/** A ping after so long without a sign; a socket that gives none for as long again is dropped. */
const PING_MS = 10_000;
/** Of the body of a refused upgrade; more is not waited for. */
const REFUSAL_BYTES_MAX = 4_096;
const REFUSAL_MS = 250;

/** The one wrapper around a client WebSocket. */
export class SocketWire implements Wire {
  readonly #socket: WebSocket;
  readonly #listener: WireListener;
  readonly #clock: Clock;
  #frames: ClientFrames | undefined;
  #heartbeat: IdleTimer | undefined;
  #connected = false;
  /** The request to open the connection was sent. */
  #isReached = false;
  #unanswered = false;
  #isAsked = false;
  #over = false;
  #full = false;
  #isSimulated = false;

  constructor(endpoint: SocketEndpoint, listener: WireListener, clock: Clock) {
    this.#listener = listener;
    this.#clock = clock;
    // No compression, no redirects, small bounds: a provider is not trusted with this process's memory.
    this.#socket = new WebSocket(endpoint.url, endpoint.protocols ?? [], {
      headers: endpoint.headers,
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: MESSAGE_BYTES_MAX,
      maxFragments: FRAGMENTS_MAX,
      finishRequest: (request) => {
        request.once('socket', (socket) => {
          socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
            this.#isReached = true;
          });
        });
        request.end();
      },
    });
    this.#socket.binaryType = 'nodebuffer';
    this.#socket.on('upgrade', ({ headers, socket }) => {
      this.#isSimulated = headers[SIMULATED_HEADER] !== undefined;
      this.#frames = new ClientFrames(socket, this.#sent);
    });
    this.#socket.on('open', () => {
      if (this.#over) return;
      this.#connected = true;
      this.#keepAlive();
      if (this.#isSimulated) this.#listener.simulated?.();
      this.#listener.opened();
    });
    this.#socket.on('pong', this.#alive);
    this.#socket.on('message', (data: Buffer, isBinary: boolean) => this.#deliver(data, isBinary));
    this.#socket.on('unexpected-response', (request, response) => {
      this.#readRefusal(response, (refusal) => {
        request.destroy();
        this.#end(() => this.#listener.refused(refusal));
      });
    });
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      // Once connected, the close that follows says all there is to say. Its text would name addresses of the operator's.
      if (this.#connected) return;
      const code = error.code === undefined ? '' : ` (${error.code})`;
      this.#end(() => this.#listener.unreachable(`The provider could not be reached${code}.`, this.#isReached));
    });
    this.#socket.on('close', (code, reason) => this.#end(() => this.#listener.closed(code, reason.toString())));
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(frame: Outgoing): void {
    if (this.#over || this.#socket.readyState !== WebSocket.OPEN) return;
    const isWhole = frame instanceof Uint8Array || typeof frame === 'string';
    // Copied by this, so the caller may reuse its buffer.
    this.#frames?.send(isWhole ? frame : JSON.stringify(frame));
    this.#full ||= this.#socket.bufferedAmount > 0;
  }

  breakDown(fault: DemandedFault): void {
    if (this.#isSimulated) this.send(demandText(fault));
  }

  ping(): void {
    if (this.#over || this.#socket.readyState !== WebSocket.OPEN) return;
    this.#isAsked = true;
    this.#socket.ping();
  }

  close(): void {
    if (this.#over) return;
    this.#socket.close(1000);
    const clock = this.#clock;
    const socket = this.#socket;
    const timer = clock.setTimeout(() => socket.terminate(), CLOSE_MS);
    socket.on('close', () => clock.clearTimeout(timer));
  }

  terminate(): void {
    if (this.#over) return;
    this.#end(() => {});
    this.#socket.terminate();
  }

  readonly #sent = (): void => {
    if (!this.#full || this.#over || this.#socket.bufferedAmount > 0) return;
    this.#full = false;
    this.#listener.drained();
  };

  #deliver(data: Buffer, isBinary: boolean): void {
    if (this.#over) return;
    this.#alive();
    this.#listener.message(isBinary ? { bytes: data } : messageOf(data.toString('utf8')));
  }

  readonly #alive = (): void => {
    this.#unanswered = false;
    this.#heartbeat?.touch();
    if (!this.#isAsked || this.#over) return;
    this.#isAsked = false;
    this.#listener.alive();
  };

  /** A ping whenever nothing came for a while; a second such while without a sign of life ends the wire. */
  #keepAlive(): void {
    this.#heartbeat = new IdleTimer(this.#clock, PING_MS, () => {
      if (this.#unanswered) {
        this.#end(() => this.#listener.closed(1006, 'The provider did not answer a ping.'));
        this.#socket.terminate();
        return;
      }
      this.#unanswered = true;
      this.#socket.ping();
      this.#keepAlive();
    });
  }

  /** The body of a refusal tells more than its status; what is not there soon is left out. */
  #readRefusal(response: IncomingMessage, done: (refusal: ProviderRefusal) => void): void {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let over = false;
    const finish = (): void => {
      if (over) return;
      over = true;
      wait.stop();
      const body = Buffer.concat(pieces).subarray(0, REFUSAL_BYTES_MAX).toString('utf8');
      done({ status: response.statusCode ?? 0, headers: joinedHeaders(response.headers), body });
    };
    const wait = new IdleTimer(this.#clock, REFUSAL_MS, finish);
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.byteLength;
      if (bytes >= REFUSAL_BYTES_MAX) finish();
    });
    response.on('end', finish);
    response.on('error', finish);
    response.on('close', finish);
  }

  #end(tell: () => void): void {
    if (this.#over) return;
    this.#over = true;
    this.#heartbeat?.stop();
    tell();
  }
}

/** A text frame as a codec is told of it. */
export function messageOf(text: string): Incoming {
  const json = jsonOf(text);
  return json === undefined ? { text } : { json };
}

type Mask = (source: Uint8Array, mask: Uint8Array, output: Uint8Array, offset: number, length: number) => void;
const { mask } = createRequire(import.meta.url)('bufferutil') as { mask: Mask };

const FINAL = 0x80;
const MASKED = 0x80;
const OPCODE = { text: 1, binary: 2 };
const MASK_BYTES = 4;
/** Two bytes, at most eight more for the length, and the mask. */
const HEAD_BYTES_MAX = 14;
/** Lengths that the head's second byte holds, and that two more bytes do. */
const SHORT_BYTES_MAX = 125;
const MEDIUM_BYTES_MAX = 65_535;

/** What is larger gets a buffer of its own: the largest frame of 16 kHz is 8 kB, or 11 kB of text. */
const SHARED_BYTES = 16_384;
/** Buffers of sockets that did not take a frame at once, kept for the next. */
const FREE_MAX = 64;
const free: Buffer[] = [];

/** Masks must not be foreseeable; asking for each alone would cost more than the frame. */
const random = new Uint8Array(8_192);
let randomAt = random.length;
const key = new Uint8Array(MASK_BYTES);

/**
 * The frames of a client (RFC 6455, 5.2), masked into buffers of the process and written to a socket at once. The library that
 * opened the socket makes a buffer and several objects for each frame; audio leaves ten times a second on each of thousands of
 * them.
 */
export class ClientFrames {
  readonly #socket: Socket;
  readonly #sent: () => void;
  /** Buffers that the socket still reads, in the order of their writes. */
  readonly #held: Buffer[] = [];
  /** Writes that were taken at once, and whose call is to come: before those of what is held. */
  #takenAtOnce = 0;

  /**
   * @param socket of a WebSocket that is open, and on which whole frames only are written
   * @param sent called for each frame once the socket has let it go
   */
  constructor(socket: Socket, sent: () => void) {
    this.#socket = socket;
    this.#sent = sent;
  }

  /** Sends a message as one frame. What is given is copied. */
  send(data: Uint8Array | string): void {
    const isText = typeof data === 'string';
    const length = isText ? Buffer.byteLength(data) : data.length;
    const buffer = bufferOf(length + HEAD_BYTES_MAX);
    const at = writeHead(buffer, isText ? OPCODE.text : OPCODE.binary, length);
    if (isText) buffer.write(data, at);
    mask(isText ? buffer.subarray(at, at + length) : data, key, buffer, at, length);
    this.#socket.write(buffer.subarray(0, at + length), this.#written);
    if (this.#socket.writableLength === 0) {
      this.#takenAtOnce++;
      give(buffer);
    } else this.#held.push(buffer);
  }

  readonly #written = (): void => {
    if (this.#takenAtOnce > 0) this.#takenAtOnce--;
    else give(this.#held.shift());
    this.#sent();
  };
}

/** The one that was used last is in the processor's caches. */
function bufferOf(bytes: number): Buffer {
  return bytes > SHARED_BYTES ? Buffer.allocUnsafeSlow(bytes) : (free.pop() ?? Buffer.allocUnsafeSlow(SHARED_BYTES));
}

function give(buffer: Buffer | undefined): void {
  if (buffer?.length === SHARED_BYTES && free.length < FREE_MAX) free.push(buffer);
}

/** Gives where the message begins. */
function writeHead(buffer: Buffer, opcode: number, length: number): number {
  buffer[0] = FINAL | opcode;
  let at = 2;
  if (length <= SHORT_BYTES_MAX) buffer[1] = MASKED | length;
  else if (length <= MEDIUM_BYTES_MAX) {
    buffer[1] = MASKED | (SHORT_BYTES_MAX + 1);
    at = buffer.writeUInt16BE(length, at);
  } else {
    buffer[1] = MASKED | (SHORT_BYTES_MAX + 2);
    at = buffer.writeUInt32BE(Math.floor(length / 2 ** 32), at);
    at = buffer.writeUInt32BE(length >>> 0, at);
  }
  if (randomAt === random.length) {
    randomFillSync(random);
    randomAt = 0;
  }
  for (let index = 0; index < MASK_BYTES; index++) {
    const byte = random[randomAt++]!;
    key[index] = byte;
    buffer[at++] = byte;
  }
  return at;
}
