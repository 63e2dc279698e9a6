// Where the vault's key-encryption keys come from, and whether they are the right ones: a canary that was sealed when the
// vault was first opened shows it, and nothing is opened before.
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { NONCE_BYTES, openBytes, SEALING_KEY_BYTES, sealBytes } from '../../runtime/sealing.ts';
import { loadPrivateFile } from '../../store/private-file.ts';
import type { VaultStore } from './store.ts';

/** In the data directory. */
export const VAULT_KEY_FILE = 'vault-key';
const CANARY: Binding = { organisationId: 'vault', provider: 'canary', id: 'canary' };
const CANARY_TEXT = 'The key of this vault is the right one.';
const ADVICE =
  'restore the key that it was made with (VOXGATE_VAULT_KEY, or the file vault-key in the data directory), or name it in VOXGATE_VAULT_KEY_PREVIOUS and run `voxgate vault rotate`';

export { CANARY as CANARY_BINDING };

export interface KeyRingOptions {
  store: Pick<VaultStore, 'vaultCanary' | 'keepVaultCanary' | 'countSealedBy'>;
  /** Base64 of 32 bytes, as configured. */
  current: string | undefined;
  previous: string | undefined;
  /** Where the file with the current key is, or is to be made, when none is configured. */
  directory: string;
}

/**
 * The keys, once they have opened the canary, and none that sealed something is missing. A vault that was never used gets
 * its canary, and its key file where no key is configured.
 *
 * @throws VaultError or SecretError with one sentence for the operator
 */
export async function loadKeyRing({ store, current, previous, directory }: KeyRingOptions): Promise<KeyRing> {
  const canary = await store.vaultCanary();
  const ring = keyRingOf(
    current === undefined ? keyFromFile(directory, canary === undefined) : keyOf(current, 'VOXGATE_VAULT_KEY'),
    previous === undefined ? undefined : keyOf(previous, 'VOXGATE_VAULT_KEY_PREVIOUS'),
  );
  // Another process may have made the vault meanwhile: its canary counts.
  requireCanary(ring, canary ?? (await store.keepVaultCanary(seal(ring, CANARY, CANARY_TEXT))));
  for (const { kekId, keys } of await store.countSealedBy()) {
    if (kekId === ring.current.id || kekId === ring.previous?.id) continue;
    throw new VaultError(`The vault holds ${keys} provider keys under the key ${kekId}, which is not here: ${ADVICE}.`);
  }
  return ring;
}

function requireCanary(ring: KeyRing, canary: string): void {
  try {
    if (open(ring, CANARY, canary) === CANARY_TEXT) return;
  } catch {
    // Said below.
  }
  throw new VaultError(
    `The vault was made with the key ${kekIdOf(canary) ?? '?'}, and the configured one is ${ring.current.id}: ${ADVICE}.`,
  );
}

const keyFromFile = (directory: string, mayMake: boolean): Uint8Array =>
  loadPrivateFile({
    path: join(directory, VAULT_KEY_FILE),
    what: 'The key of the vault',
    variable: 'VOXGATE_VAULT_KEY',
    otherwise: '',
    make: mayMake ? () => randomBytes(KEY_BYTES).toString('base64') : undefined,
    read: (text) => {
      const key = decoded(text);
      return key === undefined
        ? { fault: `is not ${KEY_BYTES} bytes in base64: restore it from a backup, or set VOXGATE_VAULT_KEY.` }
        : { value: key };
    },
  });

function keyOf(text: string, variable: string): Uint8Array {
  const key = decoded(text);
  if (key === undefined) throw new VaultError(`${variable} is not ${KEY_BYTES} bytes in base64.`);
  return key;
}

function decoded(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.byteLength === KEY_BYTES ? key : undefined;
}

// What makes a vault unusable.
/** The message is one sentence for the operator, without secrets. */
export class VaultError extends Error {
  override readonly name = 'VaultError';
}

// How a secret is sealed: AES-256-GCM under a data key of its own, which is sealed the same way under a key-encryption key.
// The text says which; what it is bound to is not in it, so that it opens in its own row alone.
//
//   v1.<id of the key-encryption key>.<sealed data key>.<nonce>.<ciphertext and tag>
export const KEY_BYTES = SEALING_KEY_BYTES;
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
    const bytes = sealBytes(dataKey, boundTo(binding), Buffer.from(plain, 'utf8'));
    return textOf(ring.current.id, wrap(ring.current, binding, dataKey), bytes);
  } finally {
    dataKey.fill(0);
  }
}

/** @throws VaultError when the text is none, is bound to something else, was changed, or is under a key that is not here */
export function open(ring: KeyRing, binding: Binding, sealed: string): string {
  const { dataKey, bytes } = unwrapped(ring, binding, sealed);
  try {
    return decrypt(dataKey, binding, bytes).toString('utf8');
  } finally {
    dataKey.fill(0);
  }
}

/** The same secret under the current key; the text itself where it is already. Only the data key is sealed again. */
export function reseal(ring: KeyRing, binding: Binding, sealed: string): string {
  const { kekId, dataKey, bytes } = unwrapped(ring, binding, sealed);
  try {
    // A text that does not open must not be carried on as if it did.
    decrypt(dataKey, binding, bytes).fill(0);
    return kekId === ring.current.id ? sealed : textOf(ring.current.id, wrap(ring.current, binding, dataKey), bytes);
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
  const dataKey = decrypt(kek.key, binding, bytesOf(wrapped));
  return { kekId, dataKey, bytes: Buffer.concat([bytesOf(nonce), bytesOf(bytes)]) };
}

const wrap = (kek: Kek, binding: Binding, dataKey: Uint8Array): Buffer => sealBytes(kek.key, boundTo(binding), dataKey);

function decrypt(key: Uint8Array, binding: Binding, sealed: Uint8Array): Buffer {
  const plain = openBytes(key, boundTo(binding), sealed);
  if (plain !== undefined) return plain;
  // What the library says of it names nothing, and neither does this.
  throw new VaultError('A sealed text of the vault does not open: it was changed, or belongs to something else.');
}

const boundTo = ({ organisationId, provider, id }: Binding): string => `v1|${organisationId}|${provider}|${id}`;

const textOf = (kekId: string, wrapped: Buffer, bytes: Buffer): string =>
  ['v1', kekId, ...[wrapped, bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES)].map(textOfBytes)].join('.');

const textOfBytes = (bytes: Buffer): string => bytes.toString('base64url');

/** Strict: a character or a bit that the decoder would overlook makes it another text. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) throw new VaultError('A sealed text of the vault is damaged.');
  return bytes;
}
