// Where the vault's key-encryption keys come from, and whether they are the right ones: a canary that was sealed when the
// vault was first opened shows it, and nothing is opened before.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { loadPrivateFile } from '../../store/private-file.ts';
import { type Binding, KEY_BYTES, type KeyRing, kekIdOf, keyRingOf, open, seal } from './seal.ts';
import type { VaultStore } from './store.ts';
import { VaultError } from './vault-error.ts';

const FILE_NAME = 'vault-key';
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
    path: join(directory, FILE_NAME),
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
