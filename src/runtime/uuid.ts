// UUID version 7 (RFC 9562, 5.7): ids that sort by the time they were made, and that nobody can guess.
import { randomBytes } from 'node:crypto';

const RANDOM_BYTES = 10;

/**
 * @param nowMs wall-clock milliseconds
 * @param random ten bytes; fresh ones when absent
 */
export function uuidv7(nowMs: number, random: Uint8Array = randomBytes(RANDOM_BYTES)): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.set(random.subarray(0, RANDOM_BYTES), 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
