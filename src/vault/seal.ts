// How a secret is sealed: AES-256-GCM under a data key of its own, which is sealed the same way under a key-encryption key.
// The text says which; what it is bound to is not in it, so that it opens in its own row alone.
//
//   v1.<id of the key-encryption key>.<sealed data key>.<nonce>.<ciphertext and tag>
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { VaultError } from './vault-error.ts';

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^v1\.([0-9a-f]{8})\.([\w-]+)\.([\w-]+)\.([\w-]+)$/;

/** What a sealed text belongs to. */
export interface Binding {
  organisationId: string;
  provider: string;
  id: string;
}

/** A key-encryption key. */
export interface Kek {
  /** The first four bytes of its SHA-256 in hexadecimal. */
  id: string;
  key: Uint8Array;
}

/** New texts are sealed with the current one; the previous one still opens what it sealed. */
export interface KeyRing {
  current: Kek;
  previous: Kek | undefined;
}

export function kekOf(key: Uint8Array): Kek {
  if (key.byteLength !== KEY_BYTES) throw new VaultError(`A key of the vault has ${KEY_BYTES} bytes.`);
  return { id: createHash('sha256').update(key).digest('hex').slice(0, 8), key };
}

export function keyRingOf(current: Uint8Array, previous?: Uint8Array): KeyRing {
  return { current: kekOf(current), previous: previous === undefined ? undefined : kekOf(previous) };
}

export function seal(ring: KeyRing, binding: Binding, plain: string): string {
  const dataKey = randomBytes(KEY_BYTES);
  try {
    const nonce = randomBytes(NONCE_BYTES);
    const bytes = encrypt(dataKey, nonce, binding, Buffer.from(plain, 'utf8'));
    return textOf(ring.current.id, wrap(ring.current, binding, dataKey), nonce, bytes);
  } finally {
    dataKey.fill(0);
  }
}

/** @throws VaultError when the text is none, is bound to something else, was changed, or is under a key that is not here */
export function open(ring: KeyRing, binding: Binding, sealed: string): string {
  const { dataKey, nonce, bytes } = unwrapped(ring, binding, sealed);
  try {
    return decrypt(dataKey, nonce, binding, bytes).toString('utf8');
  } finally {
    dataKey.fill(0);
  }
}

/** The same secret under the current key; the text itself where it is already. Only the data key is sealed anew. */
export function reseal(ring: KeyRing, binding: Binding, sealed: string): string {
  const { kekId, dataKey, nonce, bytes } = unwrapped(ring, binding, sealed);
  try {
    // A text that does not open must not be carried on as if it did.
    decrypt(dataKey, nonce, binding, bytes).fill(0);
    return kekId === ring.current.id
      ? sealed
      : textOf(ring.current.id, wrap(ring.current, binding, dataKey), nonce, bytes);
  } finally {
    dataKey.fill(0);
  }
}

/** The id of the key-encryption key that a text is sealed with. */
export function kekIdOf(sealed: string): string | undefined {
  return SEALED.exec(sealed)?.[1];
}

function unwrapped(ring: KeyRing, binding: Binding, sealed: string) {
  const [, kekId, wrapped, nonce, bytes] = SEALED.exec(sealed) ?? [];
  if (kekId === undefined || wrapped === undefined || nonce === undefined || bytes === undefined)
    throw new VaultError('A sealed text of the vault is damaged.');
  const kek = [ring.current, ring.previous].find((each) => each?.id === kekId);
  if (kek === undefined) throw new VaultError(`The vault has no key ${kekId}.`);
  const sealedKey = bytesOf(wrapped);
  const dataKey = decrypt(kek.key, sealedKey.subarray(0, NONCE_BYTES), binding, sealedKey.subarray(NONCE_BYTES));
  return { kekId, dataKey, nonce: bytesOf(nonce), bytes: bytesOf(bytes) };
}

function wrap(kek: Kek, binding: Binding, dataKey: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  return Buffer.concat([nonce, encrypt(kek.key, nonce, binding, dataKey)]);
}

function encrypt(key: Uint8Array, nonce: Uint8Array, binding: Binding, plain: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundTo(binding));
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Uint8Array, nonce: Uint8Array, binding: Binding, bytes: Uint8Array): Buffer {
  try {
    const end = bytes.byteLength - TAG_BYTES;
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo(binding));
    decipher.setAuthTag(bytes.subarray(end));
    return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]);
  } catch {
    // What the library says of it names nothing, and neither does this.
    throw new VaultError('A sealed text of the vault does not open: it was changed, or belongs to something else.');
  }
}

const boundTo = ({ organisationId, provider, id }: Binding): Uint8Array =>
  Buffer.from(`v1|${organisationId}|${provider}|${id}`, 'utf8');

const textOf = (kekId: string, ...parts: Uint8Array[]): string =>
  ['v1', kekId, ...parts.map((part) => Buffer.from(part).toString('base64url'))].join('.');

/** Strict: a character or a bit that the decoder would overlook makes it another text. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new VaultError('A sealed text of the vault is damaged.');
  return bytes;
}
