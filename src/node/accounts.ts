// The accounts of the gateway on the node that has the database, which it may serve to others as the one owner. Those ask by
// remote-accounts.ts, and everything behind asks the same store and vault either way.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CreatedKey } from '../accounts/keys/calls.ts';
import { newToken, tokenHash } from '../accounts/people/mail-tokens.ts';
import { answerVaultCalls, VAULT_GROUP } from '../accounts/vault/remote.ts';
import type { Vault } from '../accounts/vault/vault.ts';
import { ownShard } from '../cluster/accounts/ownership.ts';
import { FIRST_SHARD } from '../cluster/accounts/protocol.ts';
import { type AccountsService, serveAccounts } from '../cluster/accounts/service.ts';
import { operatorService } from '../cluster/bus/subjects.ts';
import { LedgerRecord } from '../cluster/known-ledger.ts';
import { LimitsMessages } from '../cluster/limits/messages.ts';
import { serveSlots } from '../cluster/limits/slots-service.ts';
import type { Membership } from '../cluster/membership/membership.ts';
import { ClusterError } from '../cluster/membership/name-lease.ts';
import type { Config } from '../config/schema.ts';
import { HistoryReport } from '../money/ledger/history/history-sender.ts';
import type { Reservations } from '../money/ledger/reservations.ts';
import { consumeUsage, usageKeys } from '../money/ledger/usage-stream.ts';
import type { LedgerIdentity } from '../store/identity.ts';
import { DATABASE_NAME } from '../store/keep-database.ts';
import type { Answering } from '../store/operation.ts';
import { type Assembly, type BeforeStore, nodeId, previousSecret, secretsOf, watchAccounts } from './context.ts';
import { openStandby } from './edge.ts';
import { serveOperatorsOfKeeper } from './keeper.ts';
import { closeLost } from './lost-work.ts';
import type { SharedNetwork } from './network.ts';
import { leaveReplicas, ownAsReplica } from './replica.ts';
import { answerOperatorCalls } from './store/operator-store.ts';
import { answerStoreCalls, STORE_GROUP, whileOwner } from './store/remote-store.ts';
import { replicaEntryIn } from './store/replica-file.ts';
import { openSqliteStore } from './store/sqlite-store.ts';
import { isCallName, kindOf, type Store } from './store/store.ts';

/** Longer than a session continues without the ledger: its node will not settle it any more. */
const LOST_AFTER_GRACE_MS = 300_000;

export interface OwnAccounts {
  store: Store;
  /** As it was when it was opened. */
  ledger: LedgerIdentity;
  /**
   * Makes the first organisation with its key where there is none yet. Only for a node that serves: the key is shown once, and a
   * start that failed would show it to nobody.
   */
  makeFirstKey(): Promise<CreatedKey | undefined>;
  /** The token of a link for the first owner of the first key's organisation; undefined where it has one. */
  inviteFirstOwner(): Promise<string | undefined>;
  /** The fencing revision; undefined on a single node. */
  revision(): number | undefined;
  /** Called with each new revision. */
  onRevision(listener: () => void): void;
  /** Called when another node is the owner: this one answers and accepts nothing more. */
  onLost(listener: () => void): void;
}

/** Opens the database, as its owner where there are other nodes. `end`: this node cannot continue, and why. */
export async function openOwnAccounts(
  before: BeforeStore,
  shared: SharedNetwork | undefined,
  end: (sentence: string, error?: unknown) => void,
): Promise<OwnAccounts> {
  const { config, logger, metrics, bus, clock, defer } = before;
  const { directory } = config.data;
  if (config.cluster.accountsReplicas > 1) return openReplicatedAccounts(before, shared, end);
  if (replicaEntryIn(directory) > 0) await keepAlone(before, shared, end);
  requireDatabase(config);
  const store = await openSqliteStore({
    directory,
    // Without its store a node can admit no clients: it drains, so that another process can replace it.
    onFault: (error) => end('store fault', error),
  });
  defer(() => store.close());
  metrics.watchQueue('store_calls', () => store.waitingCalls);
  const onRevision: (() => void)[] = [];
  const onLost: (() => void)[] = [];
  const ledger = await store.findLedger();
  const onFault = (error: unknown) => logger.error({ err: error }, 'the ledger could not be noted');
  const record =
    shared && new LedgerRecord({ records: shared.records, store, clock, shard: FIRST_SHARD, directory, onFault });
  const ownership =
    shared &&
    (await ownShard({
      bus,
      leases: shared.leases,
      clock,
      shard: FIRST_SHARD,
      id: nodeId(before),
      ledger: ledger.id,
      onWaiting: (sentence) => logger.warn({ reason: sentence }, 'waiting for the accounts'),
      claim: async (revision) => {
        await record?.admit();
        await store.claimOwnership(FIRST_SHARD, revision, nodeId(before));
      },
      onRevision: () => {
        for (const listener of onRevision) listener();
      },
      onLost: (sentence) => {
        for (const listener of onLost) listener();
        end(sentence);
      },
    }));
  if (shared !== undefined) {
    watchAccounts(metrics, () => true);
    const kept = { database: store, ledger: ledger.id };
    serveOperatorsOfKeeper(before, { isSingle: true, current: () => kept, onHandedOver: end });
  }
  if (ownership !== undefined) defer(() => ownership.release());
  if (record !== undefined) {
    record.keep();
    defer(() => record.close());
  }
  return {
    ...firstOf(before, store, ledger),
    revision: () => ownership?.revision,
    onRevision: (listener) => onRevision.push(listener),
    onLost: (listener) => onLost.push(listener),
  };
}

/** The same where several nodes keep copies: resolves when this one owns them. */
async function openReplicatedAccounts(
  before: BeforeStore,
  shared: SharedNetwork | undefined,
  end: (sentence: string, error?: unknown) => void,
): Promise<OwnAccounts> {
  const { config, logger, metrics, clock, roles, defer } = before;
  const { directory } = config.data;
  if (shared === undefined) {
    throw new ClusterError(
      'Replicas of the accounts (VOXGATE_ACCOUNTS_REPLICAS) find each other over NATS: set VOXGATE_NATS.',
    );
  }
  if (config.data.vaultKey === undefined) {
    throw new ClusterError(
      'Replicas of the accounts open the same vault, each with the same key: set VOXGATE_VAULT_KEY on all of them (the file vault-key of the first node, or a new one: `openssl rand -base64 32`).',
    );
  }
  if (roles.size > 1) {
    throw new ClusterError(
      'A replica of the accounts serves no clients while another node owns them: with VOXGATE_ACCOUNTS_REPLICAS above 1, these nodes have VOXGATE_ROLES=accounts, and other nodes have the other roles.',
    );
  }
  const onLost: (() => void)[] = [];
  const recordOf = (store: Store) =>
    new LedgerRecord({
      ...{ records: shared.records, store, clock, shard: FIRST_SHARD, directory },
      onFault: (error) => logger.error({ err: error }, 'the ledger could not be noted'),
    });
  let isCurrent = () => false;
  let closeStandby = await openStandby(before, () => isCurrent());
  defer(() => closeStandby());
  const { store, ownership } = await ownAsReplica(before, shared, {
    admit: (database) => recordOf(database).admit(),
    onFollowing: (asked) => {
      isCurrent = asked;
    },
    onFault: (error) => end('store fault', error),
    end: (sentence) => {
      for (const listener of onLost) listener();
      end(sentence);
    },
  });
  await closeStandby();
  closeStandby = async () => {};
  metrics.watchQueue('store_calls', () => store.waitingCalls);
  watchAccounts(metrics, () => true);
  const record = recordOf(store);
  await record.admit();
  record.keep();
  defer(() => record.close());
  return {
    ...firstOf(before, store, await store.findLedger()),
    revision: () => (ownership.isSure ? ownership.revision : 0),
    onRevision: () => {},
    onLost: (listener) => onLost.push(listener),
  };
}

/** Of one that was a replica: it leaves the log once it has every entry and owns it. */
async function keepAlone(
  before: BeforeStore,
  shared: SharedNetwork | undefined,
  end: (sentence: string, error?: unknown) => void,
): Promise<void> {
  const { config, logger, clock } = before;
  const { directory } = config.data;
  if (shared === undefined) {
    throw new ClusterError(
      `The database in ${directory} is one of several replicas of the accounts. Start it once with VOXGATE_NATS and VOXGATE_ACCOUNTS_REPLICAS=1, so that it keeps them alone. If NATS is lost for good, run \`voxgate ledger accept\` with the name of its ledger on the newest of them.`,
    );
  }
  logger.warn(
    {
      reason:
        'VOXGATE_ACCOUNTS_REPLICAS is 1: this node waits until it has every entry and no other node owns the accounts.',
    },
    'waiting for the accounts',
  );
  let isCurrent = () => false;
  const closeStandby = await openStandby(before, () => isCurrent());
  try {
    const onFault = (error: unknown) => logger.error({ err: error }, 'the ledger could not be noted');
    await leaveReplicas(before, shared, {
      admit: (store) =>
        new LedgerRecord({ records: shared.records, store, clock, shard: FIRST_SHARD, directory, onFault }).admit(),
      onFollowing: (asked) => {
        isCurrent = asked;
      },
      onFault: (error) => end('store fault', error),
      end,
    });
  } finally {
    await closeStandby();
  }
  logger.info('keeps the accounts alone');
}

function firstOf(
  { config, logger }: BeforeStore,
  store: Store,
  ledger: LedgerIdentity,
): Pick<OwnAccounts, 'store' | 'ledger' | 'makeFirstKey' | 'inviteFirstOwner'> {
  return {
    store,
    ledger,
    makeFirstKey: async () => {
      const firstKey = await store.bootstrap();
      if (firstKey !== undefined)
        logger.info({ ledger: ledger.id, directory: config.data.directory }, 'created a new ledger');
      return firstKey;
    },
    inviteFirstOwner: async () => {
      const token = newToken();
      return (await store.inviteFirstOwner(tokenHash(token)!)) ? token : undefined;
    },
  };
}

function requireDatabase({ data: { directory, databaseMissing } }: Config): void {
  if (databaseMissing === 'make' || existsSync(join(directory, DATABASE_NAME))) return;
  throw new ClusterError(
    `There is no database in ${directory}, and VOXGATE_DATABASE_MISSING is \`stop\`: mount what VOXGATE_DATA_DIRECTORY names, or start once with \`make\` to begin a new ledger.`,
  );
}

/** What is served to the other nodes. */
export interface Served {
  own: OwnAccounts;
  vault: Vault;
  shared: SharedNetwork;
  members: Membership;
  /** What other nodes used belongs into the history of this ledger. */
  noteSettled: Reservations['noteSettled'];
}

/** Serves this node's accounts to the others and to operators, and takes what they tell of usage. */
export function serveOwnAccounts(assembly: Assembly, served: Served): void {
  for (const serve of [serveCalls, serveOperators, serveSlotsOf, takeUsage]) {
    const stop = serve(assembly, served);
    served.own.onLost(stop);
    assembly.defer(stop);
  }
}

/** Takes back what was offered; called twice, the second time does nothing. */
type Stop = () => unknown;

function serveCalls(assembly: Assembly, served: Served): Stop {
  const { store } = served.own;
  return serveGroups(assembly, served, { store: answerStoreCalls(store) });
}

/** The same for the commands of operators, who may do more than nodes. */
function serveOperators(assembly: Assembly, served: Served): Stop {
  const { store } = served.own;
  return serveGroups(assembly, served, { store: answerOperatorCalls(store), service: operatorService(FIRST_SHARD) });
}

function serveGroups(
  { bus, logger, metrics, secret, config }: Assembly,
  { own: { store, ledger, revision, onRevision }, vault }: Served,
  answers: { store: Answering; service?: string },
): Stop {
  // An owner that cannot renew its lease continues: once another node is the owner, the database refuses this one's writes.
  const isOwner = () => revision() !== 0;
  const isRead = (call: string) => isCallName(call) && kindOf(call) === 'reads';
  const groups = new Map([
    [STORE_GROUP, whileOwner(answers.store, isOwner, isRead)],
    [VAULT_GROUP, whileOwner(answerVaultCalls({ vault, store }), isOwner, (call) => call === 'open')],
  ]);
  let service: AccountsService | undefined;
  let isStopped = false;
  const serve = () => {
    void service?.stop();
    if (isStopped) return;
    service = serveAccounts({
      bus,
      secret,
      previousSecret: previousSecret(config),
      revision: revision() ?? 0,
      ledger,
      groups,
      ...(answers.service !== undefined && { service: answers.service }),
      isOwner,
      onFault: (call, error) => logger.error({ call, err: error }, 'accounts fault'),
      // Normal: a caller does not know the epoch at its first call.
      onRefused: (reason) => reason !== 'epoch' && metrics.dropped(`accounts_${reason}`),
    });
  };
  serve();
  onRevision(serve);
  if (answers.service === undefined) metrics.watchQueue('accounts_calls', () => service?.running ?? 0);
  return () => {
    isStopped = true;
    return service?.stop();
  };
}

function serveSlotsOf(assembly: Assembly, { members }: Served): Stop {
  const { bus, clock, metrics } = assembly;
  const places = serveSlots({ bus, clock, messages: new LimitsMessages(secretsOf(assembly)) });
  metrics.watchGauge('session_places', 'Live sessions on all nodes, as counted by this node.', () => places.places);
  const detach = [
    members.onGone((node) => places.forget(node)),
    // A node that counted as gone sends a full report when it comes back.
    members.onNodes(() => places.rollCall()),
  ];
  return () => {
    for (const each of detach) each();
    places.close();
  };
}

function takeUsage(assembly: Assembly, { own: { store }, shared: { usage }, members, noteSettled }: Served): Stop {
  const { config, logger, metrics, clock } = assembly;
  const history = new HistoryReport(clock, (counts) =>
    logger.info({ ...counts }, 'usage histories of nodes are settled'),
  );
  metrics.watchGauge(
    'usage_history_added',
    'Sessions from the usage histories of other nodes that this ledger lacked, since the start.',
    () => history.added,
  );
  const onFault = (name: string, error: unknown) => {
    metrics.ledgerFault(name);
    logger.error({ action: name, err: error }, 'ledger fault');
  };
  const isThere = (node: string) => members.nodes().some((each) => each.node === node);
  const graceMs = config.billing.ledgerGraceMs + LOST_AFTER_GRACE_MS;
  const lost = closeLost(assembly, store, graceMs, isThere);
  metrics.watchGauge(
    'usage_waiting',
    'Usage in the stream that the ledger has not taken yet; -1 if unknown.',
    async () => (await usage.waiting(FIRST_SHARD).catch(() => undefined)) ?? -1,
  );
  metrics.watchGauge(
    'usage_put_aside',
    'Usage that this ledger could not take, kept for one that can; -1 if unknown.',
    async () => (await usage.putAside(FIRST_SHARD)) ?? -1,
  );
  const detach = [
    members.onGone((node) => lost.gone(node)),
    consumeUsage({
      usage,
      shard: FIRST_SHARD,
      store,
      keys: usageKeys(secretsOf(assembly)),
      onSettled: (head, end) => {
        noteSettled(head, end);
        logger.debug({ sessionId: head.id }, 'usage is settled');
      },
      onHistory: (outcome) => history.note(outcome),
      onFault,
    }),
  ];
  return () => {
    for (const each of detach) each();
    history.close();
    lost.close();
  };
}
