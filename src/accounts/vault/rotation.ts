// Moves the vault to its current key: every data key is sealed anew, all of them or none.
import type { Actor } from '../../store/audit-log.ts';
import { CANARY_BINDING } from './key-ring.ts';
import { type Binding, type KeyRing, kekIdOf, reseal } from './seal.ts';
import type { Resealed, VaultStore } from './store.ts';
import { VaultError } from './vault-error.ts';

export interface Rotation {
  /** Provider keys that were, or would be, moved. */
  moved: number;
  /** Those that had the current key already. */
  current: number;
}

type RotationStore = Pick<VaultStore, 'listSealedProviderKeys' | 'vaultCanary' | 'resealVault'>;

/**
 * Moves everything that is sealed to the current key. Provider keys do not change: only what seals them.
 *
 * @throws VaultError naming the first one that does not open, or that was changed meanwhile; nothing has changed then
 */
export async function rotateVault(store: RotationStore, ring: KeyRing, by: Actor, dryRun: boolean): Promise<Rotation> {
  const [rows, canary] = [await store.listSealedProviderKeys(), await store.vaultCanary()];
  const texts: Resealed[] = [];
  const add = (id: string | null, binding: Binding, from: string) => {
    const to = resealed(ring, binding, from);
    if (to !== from) texts.push({ id, from, to });
  };
  for (const row of rows) add(row.id, row, row.sealed);
  const moved = texts.length;
  if (canary !== undefined) add(null, CANARY_BINDING, canary);
  if (!dryRun && texts.length > 0) await store.resealVault(ring.current.id, texts, by);
  return { moved, current: rows.length - moved };
}

function resealed(ring: KeyRing, binding: Binding, sealed: string): string {
  try {
    return reseal(ring, binding, sealed);
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    throw new VaultError(
      `Nothing was changed: ${binding.id} under the key ${kekIdOf(sealed) ?? '?'} does not open. ${error.message}`,
    );
  }
}
