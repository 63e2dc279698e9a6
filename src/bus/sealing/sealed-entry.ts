// What is kept on the servers under a name, sealed for that name: nobody else can have written it, or have moved it there. That an
// old one comes again is for the reader to see.
import { openBytes, sealBytes } from '../../runtime/sealing.ts';
import { HINT_BYTES, type KeyRing } from './key-ring.ts';

export function sealEntry(ring: KeyRing, name: string, plain: Uint8Array): Buffer {
  const { key, hint } = ring.fresh();
  return Buffer.concat([Buffer.from([hint.length]), hint, sealBytes(key, name, plain)]);
}

/** Undefined for what no node with this secret has written under that name. */
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
