// Authenticated encryption, one way for everything that is kept sealed: AES-256-GCM with a fresh nonce, bound to what it belongs
// to.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
export const SEALING_KEY_BYTES = 32;
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OPTIONS = { authTagLength: TAG_BYTES } as const;

/** A key for one purpose, out of a secret that has many. */
export function keyFor(purpose: string, secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), purpose, SEALING_KEY_BYTES));
}

/** Nonce, ciphertext and tag. `about` is not in it; the same is needed to open it. */
export function sealBytes(key: Uint8Array, about: string, ...plain: readonly Uint8Array[]): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, OPTIONS);
  cipher.setAAD(Buffer.from(about));
  return Buffer.concat([nonce, ...plain.map((part) => cipher.update(part)), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined for what was sealed with another key, for something else, was changed, or was never sealed. */
export function openBytes(key: Uint8Array, about: string, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), OPTIONS);
    decipher.setAAD(Buffer.from(about));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
