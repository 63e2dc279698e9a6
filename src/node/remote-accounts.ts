// The accounts of the gateway where they are another node's: asked over the bus, as long as that is the node that this one knows.
import { join } from 'node:path';
import { createRemoteVault } from '../accounts/vault/remote.ts';
import type { Vault } from '../accounts/vault/vault.ts';
import { type AccountsClient, createAccountsClient, FOREIGN } from '../cluster/accounts/client.ts';
import { shardOf } from '../cluster/accounts/protocol.ts';
import { OWNER_PREFIX } from '../cluster/bus/leases.ts';
import { ACCOUNTS_OPEN } from '../cluster/bus/subjects.ts';
import { LEDGER_FILE, RememberedLedger } from '../cluster/known-ledger.ts';
import { ClusterError } from '../cluster/membership/name-lease.ts';
import { HistorySender } from '../money/ledger/history/history-sender.ts';
import type { ReservationStore } from '../money/ledger/reservations.ts';
import { createStreamedStore, historyId, usageBody, usageKeys } from '../money/ledger/usage-stream.ts';
import { type Assembly, type BeforeStore, previousSecret, secretsOf, watchAccounts } from './context.ts';
import type { SharedNetwork } from './network.ts';
import { createRemoteStore } from './store/remote-store.ts';
import type { Store } from './store/store.ts';

export interface RemoteAccounts {
  store: Store;
  client: AccountsClient;
}

/**
 * Asks the node that has the database. Where that is not there yet, it is asked once it is.
 *
 * @throws ClusterError when it is there, and has another secret or another ledger
 */
export async function openRemoteAccounts(
  before: BeforeStore,
  shared: SharedNetwork | undefined,
): Promise<RemoteAccounts> {
  const { bus, secret, config, clock, metrics, logger } = before;
  const onForeign = (sentence: string) => logger.error({ reason: sentence }, 'accounts fault');
  const remembered = new RememberedLedger(join(config.data.directory, LEDGER_FILE), (error) =>
    logger.error({ err: error }, 'the ledger could not be noted'),
  );
  const client = createAccountsClient({
    bus,
    secret,
    previousSecret: previousSecret(config),
    clock,
    faultOf: (ledger) => remembered.faultOf(ledger),
    onForeign,
    onAway: (isAway) => {
      if (isAway) logger.warn('the accounts node does not answer');
      else logger.info('the accounts node answers again');
    },
  });
  // Who cannot read what this node says does not answer; but it has the name, written with another secret.
  const isForeign = () => shared?.leases.isForeign(OWNER_PREFIX).catch(() => false) ?? false;
  const foreign = await client.greet().catch(async () => ((await isForeign()) ? FOREIGN : undefined));
  if (foreign !== undefined) throw new ClusterError(foreign);
  metrics.watchQueue('accounts_questions', () => client.waiting);
  watchAccounts(metrics, () => !client.isAway);
  if (shared !== undefined && before.roles.has('edge')) sendHistory(before, client, remembered, shared);
  return { store: createRemoteStore(client.ask), client };
}

export const remoteVault = ({ bus, clock, logger, store }: Assembly, { client }: RemoteAccounts): Vault =>
  createRemoteVault({
    ask: client.ask,
    store,
    clock,
    hearsNews: () => bus.isConnected,
    onFault: (action, error) => logger.error({ action, err: error }, 'vault fault'),
  });

/**
 * Sends the usage history of this node to each new generation of the ledger: after a restore, it lacks what was settled since its
 * backup was made.
 */
function sendHistory(
  before: BeforeStore,
  client: AccountsClient,
  remembered: RememberedLedger,
  { usage }: SharedNetwork,
): void {
  const { bus, clock, config, logger, metrics, defer } = before;
  const keys = usageKeys(secretsOf(before));
  const sender = new HistorySender({
    directory: join(config.data.directory, 'usage'),
    clock,
    send: (head, end, generation) =>
      usage.publish(shardOf(head.organisationId), historyId(head, generation), usageBody(keys, head, end, true)),
    onSent(generation, sessions) {
      remembered.historySent(generation);
      if (sessions > 0) logger.info({ sessions }, 'the usage history was sent to the ledger');
    },
    onFault(error) {
      metrics.ledgerFault('usage history');
      logger.error({ action: 'usage history', err: error }, 'ledger fault');
    },
  });
  remembered.onHistoryDue((generation) => sender.begin(generation));
  // A node that asks nothing of the ledger would not notice that it is another.
  const look = () => void client.greet().catch(() => {});
  const detach = [bus.subscribe(ACCOUNTS_OPEN, look), bus.onConnection((isConnected) => isConnected && look())];
  defer(() => {
    for (const each of detach) each();
    sender.close();
  });
}

/** Holds are asked of the owner; what was used goes by the stream. */
export const remoteReservationStore = (assembly: Assembly, { usage }: SharedNetwork): ReservationStore =>
  createStreamedStore({ accounts: assembly.store, usage, keys: usageKeys(secretsOf(assembly)), shardOf });
