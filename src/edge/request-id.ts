// Request ids: `req_` and a UUIDv7, so that they sort by time and nobody can guess the next.
import { randomBytes } from 'node:crypto';

const RANDOM_BYTES = 10;

/** A UUIDv7 (RFC 9562, 5.7) of a wall time in milliseconds and ten random bytes. */
export function uuidv7(timeMs: number, random: Uint8Array): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(timeMs, 0, 6);
  bytes.set(random.subarray(0, RANDOM_BYTES), 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The id of a request that arrived at this wall time. */
export function newRequestId(timeMs: number, random: Uint8Array = randomBytes(RANDOM_BYTES)): string {
  return `req_${uuidv7(timeMs, random)}`;
}
