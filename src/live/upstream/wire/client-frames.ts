// The frames of a client (RFC 6455, 5.2), masked into buffers of the process and written to a socket at once. The library that
// opened the socket makes a buffer and several objects for each frame; audio leaves ten times a second on each of thousands of them.
import { randomFillSync } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

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
