// Puts a copy of the database in the place of the one of this machine, and says what that means.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { VAULT_KEY_FILE } from '../../accounts/vault/key-ring.ts';
import { replayHistory } from '../../money/ledger/history/replay.ts';
import { restoreDatabase } from '../../node/store/restore.ts';
import { databaseIn, dataDirectory, withFile } from './operator.ts';
import { print, tell } from './output.ts';
import { loadSettings } from './settings.ts';

/**
 * Checks the copy, puts it in place and settles again what the usage history of this machine has.
 *
 * @param name what messages call the copy
 */
export async function restoreHere(copy: string, force: boolean, name = copy): Promise<void> {
  const { cluster, data } = loadSettings();
  const directory = dataDirectory();
  const { audit, kept } = restoreDatabase(copy, databaseIn(directory), force);
  const { replayed, hasVault } = await withFile({ make: false }, async (store) => ({
    replayed: await replayHistory(join(directory, 'usage'), store),
    hasVault: (await store.vaultCanary()) !== undefined,
  }));
  tell('Credit, keys and revocations are as they were when the copy was made.');
  if (kept !== undefined) tell(`What was there before is kept as ${kept}.`);
  if (hasVault && data.vaultKey === undefined && !existsSync(join(directory, VAULT_KEY_FILE))) {
    tell(
      `The customers’ provider keys in it are encrypted, and their key is missing: before the start, put ${VAULT_KEY_FILE} back into ${directory}, or set VOXGATE_VAULT_KEY.`,
    );
  }
  if (cluster.accountsReplicas > 1) {
    tell(
      'Start this node before the other accounts nodes, and those when it owns the accounts: they fetch its database.',
    );
  }
  print(`${directory} has the ledger of ${name} now: ${audit.sessions} sessions and ${audit.transfers} transfers.`);
  print(
    `Of ${replayed.sessions} sessions that were settled of late, ${replayed.added} were not in it and are settled again${replayed.refused === 0 ? '' : `; ${replayed.refused} belong to organisations that it does not know`}.`,
  );
  print(
    'Nodes without the database send the sessions of their own usage history when the gateway starts: its log counts them ("usage histories of nodes are settled"), as does the metric voxgate_usage_history_added.',
  );
  if (replayed.unreadable > 0) {
    print(`${replayed.unreadable} lines of the usage history were not written whole and could not be read.`);
  }
}
