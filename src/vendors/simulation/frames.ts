// Frames below what a WebSocket library would send: a server's, unmasked, whole or broken (RFC 6455 5.2).
import { deflateRawSync } from 'node:zlib';
import type { Outgoing } from '../provider.ts';

const TEXT = 1;
const BINARY = 2;
const CONTINUATION = 0;
const FINAL_BIT = 0x80;
const COMPRESSED_BIT = 0x40;
const BOMB_BYTES = 16 * 1024 * 1024;

function frame(bits: number, payload: Uint8Array): Buffer {
  const length = payload.length;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = bits;
  head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** A message in fragments of one byte; an object is JSON. */
export function tinyFragments(message: Outgoing): Buffer {
  const isBinary = message instanceof Uint8Array;
  const bytes = isBinary ? message : Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  const opcode = isBinary ? BINARY : TEXT;
  return Buffer.concat(
    Array.from(bytes, (_, at) => {
      const bits = (at === 0 ? opcode : CONTINUATION) | (at === bytes.length - 1 ? FINAL_BIT : 0);
      return frame(bits, bytes.subarray(at, at + 1));
    }),
  );
}

/** A text frame that is no UTF-8. */
export function invalidUtf8(): Buffer {
  return frame(FINAL_BIT | TEXT, Uint8Array.of(0x22, 0xc3, 0x28, 0x22));
}

/** A small compressed frame that unpacks to 16 MiB. */
export function deflateBomb(): Buffer {
  return frame(FINAL_BIT | COMPRESSED_BIT | TEXT, deflateRawSync(Buffer.alloc(BOMB_BYTES, 0x20)));
}
