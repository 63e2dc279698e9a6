// Entries in NATS buckets, sealed for their name: only a node with the secret can have written one, and it cannot be moved to
// another name. There is no replay protection: the reader has to detect an old entry.
import { openBytes, sealBytes } from '../../../runtime/sealing.ts';
import { HINT_BYTES, type KeyRing } from './key-ring.ts';

export function sealEntry(ring: KeyRing, name: string, plain: Uint8Array): Buffer {
  const { key, hint } = ring.fresh();
  return Buffer.concat([Buffer.from([hint.length]), hint, sealBytes(key, name, plain)]);
}

/** Undefined when no node with this secret wrote it under that name. */
export function openEntry(ring: KeyRing, name: string, data: Uint8Array): Buffer | undefined {
  const hintBytes = data[0] ?? 0;
  if (!HINT_BYTES.includes(hintBytes) || data.byteLength <= hintBytes) return undefined;
  const [hint, sealed] = [data.subarray(1, 1 + hintBytes), data.subarray(1 + hintBytes)];
  for (const key of ring.candidates(hint)) {
    const plain = openBytes(key, name, sealed);
    if (plain !== undefined) return plain;
  }
  return undefined;
}
