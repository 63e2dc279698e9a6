// `voxgate vault status|rotate`: which key seals the customers' provider keys, and the move to a new one. The secrets
// themselves are never shown.

import type { Store } from '../store/store.ts';
import { loadKeyRing } from '../vault/key-ring.ts';
import { rotateVault } from '../vault/rotation.ts';
import type { KeyRing } from '../vault/seal.ts';
import { action, actionsCommand } from './shared/actions.ts';
import { operator, withStore } from './shared/operator.ts';
import { print } from './shared/output.ts';
import { loadSettings } from './shared/settings.ts';

const usage = `Usage: voxgate vault status [--json]
       voxgate vault rotate [--dry-run]

Works on the data directory that VOXGATE_DATA_DIRECTORY names (./data), also while a gateway runs on it.

  status  opens every provider key that is kept, and says how many are under which key of the vault
  rotate  moves them all to the current key of the vault, or none; --dry-run only counts

To change the key of the vault: set VOXGATE_VAULT_KEY to the new one (openssl rand -base64 32) and
VOXGATE_VAULT_KEY_PREVIOUS to the old one, restart every gateway, run voxgate vault rotate, and take the old one away.`;

export const vault = actionsCommand(
  { name: 'vault', summary: "look after the key that seals the customers' provider keys", usage },
  {
    status: action({
      operands: [],
      options: { json: { type: 'boolean' } },
      run: (_, { json = false }) =>
        withVault(async (store, ring) => {
          const { moved } = await rotateVault(store, ring, operator(), true);
          const keys = await store.countSealedBy();
          const status = { current: ring.current.id, previous: ring.previous?.id ?? null, keys, toMove: moved };
          if (json) print(JSON.stringify(status));
          else printStatus(status);
          return undefined;
        }),
    }),
    rotate: action({
      operands: [],
      options: { 'dry-run': { type: 'boolean' } },
      run: (_, { 'dry-run': dryRun = false }) =>
        withVault(async (store, ring) => {
          const { moved, current } = await rotateVault(store, ring, operator(), dryRun);
          const what = dryRun ? 'would be moved' : 'were moved';
          print(`${moved} provider keys ${what} to the key ${ring.current.id}; ${current} had it already.`);
          return undefined;
        }),
    }),
  },
);

function withVault<Result>(work: (store: Store, ring: KeyRing) => Promise<Result>): Promise<Result> {
  const { directory, vaultKey, vaultKeyPrevious } = loadSettings().data;
  return withStore({ make: false }, async (store) =>
    work(store, await loadKeyRing({ store, current: vaultKey, previous: vaultKeyPrevious, directory })),
  );
}

interface Status {
  current: string;
  previous: string | null;
  keys: { kekId: string; keys: number }[];
  toMove: number;
}

function printStatus({ current, previous, keys, toMove }: Status): void {
  print(`The current key of the vault is ${current}${previous === null ? '' : `, the previous one ${previous}`}.`);
  for (const { kekId, keys: count } of keys) print(`${count} provider keys are under ${kekId}.`);
  if (keys.length === 0) print('No provider key is kept.');
  if (toMove > 0) print(`${toMove} are to be moved: voxgate vault rotate`);
}
