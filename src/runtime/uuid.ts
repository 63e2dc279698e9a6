// UUID version 7 (RFC 9562, 5.7): ids that sort by the time they were made, and that cannot be guessed.
import { randomFillSync } from 'node:crypto';

const RANDOM_BYTES = 10;
/** Asked of the system for many ids at once: a call of its own for each costs more than the id. */
const stock = Buffer.alloc(400 * RANDOM_BYTES);
let used = stock.length;

/**
 * @param nowMs wall-clock milliseconds
 * @param random ten bytes; fresh ones when absent
 */
export function uuidv7(nowMs: number, random: Uint8Array = freshBytes()): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.set(random.subarray(0, RANDOM_BYTES), 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Valid until the next call. */
function freshBytes(): Uint8Array {
  if (used === stock.length) {
    randomFillSync(stock);
    used = 0;
  }
  used += RANDOM_BYTES;
  return stock.subarray(used - RANDOM_BYTES, used);
}
