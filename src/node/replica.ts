// This node as one of several replicas of the accounts: joins with a copy of the owner's database where its own cannot continue,
// follows the log, and waits until it owns it. What is opened behind it is opened by the owner alone.
import { join } from 'node:path';
import type { Ownership } from '../cluster/accounts/ownership.ts';
import { FIRST_SHARD } from '../cluster/accounts/protocol.ts';
import type { NatsBus } from '../cluster/bus/nats/bus.ts';
import { MESSAGE_BYTES_MAX, natsReplicatedLog } from '../cluster/bus/nats/jetstream/replicated-log.ts';
import type { ReplicatedLog } from '../cluster/bus/replicated-log.ts';
import { REPLICA_POSITION } from '../cluster/bus/subjects.ts';
import { knownLedgerOf } from '../cluster/known-ledger.ts';
import { ClusterError } from '../cluster/membership/name-lease.ts';
import { Peers } from '../cluster/replication/peers.ts';
import { Replica, type ReplicaEnd } from '../cluster/replication/replica.ts';
import { fetchSnapshot, type SnapshotsOptions, serveSnapshots } from '../cluster/replication/snapshots.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';
import { isOlderVersion } from '../runtime/version.ts';
import { DATABASE_NAME } from '../store/keep-database.ts';
import { STORE_VERSION } from '../store/migrations.ts';
import { type BeforeStore, nodeId, previousSecret } from './context.ts';
import { FOREIGN_LEDGER, joinLog } from './join-log.ts';
import { type KeptAccounts, serveOperatorsOfKeeper } from './keeper.ts';
import type { SharedNetwork } from './network.ts';
import { requireSpace } from './store/disk-space.ts';
import type { Answer } from './store/protocol.ts';
import { replicaEntryIn } from './store/replica-file.ts';
import { createReplicatedStore, replicaStoreOf } from './store/replicated-store.ts';
import { copyBeside } from './store/snapshot/thread.ts';
import { openSqliteStore, type SqliteStore } from './store/sqlite-store.ts';
import type { Store } from './store/store.ts';

const AGAIN_MS = 1_000;
/** Replicas claim a little apart: one that is refused follows again, and has lost some time. */
const CLAIM_APART_MS = 200;
const claimDelayMs = (node: string): number =>
  (Array.from(node).reduce((sum, each) => sum + each.charCodeAt(0), 0) % 4) * CLAIM_APART_MS;

const END_SENTENCES: Record<ReplicaEnd, string> = {
  deposed: 'Another node owns the accounts now: this one starts again and follows it.',
  behind:
    'The log of the accounts no longer has what this database needs next: this node starts again with a copy of the owner’s database.',
  diverged:
    'This database has entries that the log of the accounts does not have. Compare it with the others (`voxgate ledger audit`), then move it away: the next start fetches a copy of the owner’s database.',
  different:
    'This database came to another content than the owner’s. Keep a copy of it for the report, then move it away: the next start fetches a copy of the owner’s database.',
  foreign: FOREIGN_LEDGER,
  left: 'Another node keeps the accounts alone now: this one waits until the log goes on.',
  version: 'An entry of the log of the accounts was written by a newer version: install that version here first.',
  disk: 'An entry of the log of the accounts could not be written to this database: free space on its disk, or replace the disk, and start this node again.',
  locked:
    'Another process kept this database locked, so that no entry of the log of the accounts could be written to it: end that process, and start this node again.',
  changed:
    'Another process has written to this database. End that process, move the database away, and start this node again: it fetches a copy of the owner’s database.',
};

/** Ends after which the next start may succeed without an operator, once there is space or a lock is gone. */
const PASSING: readonly ReplicaEnd[] = ['deposed', 'disk', 'locked'];

const endSentence = (reason: ReplicaEnd, detail: string | undefined): string =>
  detail === undefined ? END_SENTENCES[reason] : `${END_SENTENCES[reason]} ${detail}`;

export interface OwnedReplica {
  store: Store & { readonly waitingCalls: number };
  ownership: Pick<Ownership, 'revision' | 'isSure' | 'release'>;
}

export interface ReplicaOptions {
  /** Whether this database may be the one of the gateway: `LedgerRecord.admit`. */
  admit(store: Store): Promise<void>;
  /** Called once, with what tells whether this replica follows the log and has what the others have. */
  onFollowing(isCurrent: () => boolean): void;
  /** This node cannot continue. */
  end(sentence: string): void;
  onFault(error: unknown): void;
}

/**
 * Resolves once this node owns the accounts, which may be never.
 *
 * @throws ClusterError when it cannot be a replica
 */
export async function ownAsReplica(
  before: BeforeStore,
  shared: SharedNetwork,
  options: ReplicaOptions,
): Promise<OwnedReplica> {
  for (;;) {
    const owner = await becomeOwner(before, shared, options);
    if (owner !== undefined) return owned(before, owner);
  }
}

/**
 * Resolves once this node has every entry of the log, owns it, and has left it: its database is the only one then. The other replicas
 * wait until the log goes on.
 *
 * @throws ClusterError when it cannot be a replica
 */
export async function leaveReplicas(
  before: BeforeStore,
  shared: SharedNetwork,
  options: ReplicaOptions,
): Promise<void> {
  const closers: (() => unknown)[] = [];
  try {
    const owner = await becomeOwner({ ...before, defer: (close) => void closers.push(close) }, shared, options);
    await owner?.replica.leave();
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Undefined when this node had left the log before, and did not know it. */
async function becomeOwner(
  before: BeforeStore,
  { records }: SharedNetwork,
  options: ReplicaOptions,
): Promise<Owned | undefined> {
  const { config, bus, clock, logger, metrics, secret, defer } = before;
  const { directory } = config.data;
  const { onFault } = options;
  const fault = logFault((bus as NatsBus).link.connection.info ?? {}, config.cluster.natsReplicas);
  if (fault !== undefined) throw new ClusterError(fault);
  const log = natsReplicatedLog(bus as NatsBus, { shard: FIRST_SHARD, replicas: config.cluster.natsReplicas });
  const sealing = { bus, secret, previousSecret: previousSecret(config), shard: FIRST_SHARD };
  const peers = new Peers({
    ...{ bus, clock, topic: REPLICA_POSITION },
    node: nodeId(before),
    version: STORE_VERSION,
    others: config.cluster.accountsReplicas - 1,
  });
  defer(() => peers.close());
  let current: Following | undefined;
  serveOperatorsOfKeeper(before, { isSingle: false, current: () => current, onHandedOver: options.end });
  defer(async () => {
    await current?.replica?.release();
    await current?.database.close();
  });
  watchReplica(metrics, () => current?.replica);
  options.onFollowing(() => {
    const replica = current?.replica;
    if (replica === undefined || replica.role === 'ended') return false;
    // Before the first entry, none of the nodes has a database that the others could continue.
    return replica.position.number > 0 && peers.isLevel(replica.position.number);
  });
  for (let needsCopy = false; ; ) {
    const { database, isFirst } = await joinLog({
      ...{ log, directory, needsCopy },
      open: () => openSqliteStore({ directory, isReplica: true, onFault }),
      knownLedger: () => knownLedgerOf(records, FIRST_SHARD),
      fetch: (path) => fetchSnapshot(sealing, path, (bytes) => requireSpace(directory, bytes)),
      pause: () => new Promise<void>((resolve) => void clock.setTimeout(() => resolve(), AGAIN_MS)),
      onWaiting: (sentence) => logger.warn({ reason: sentence }, 'waiting for the accounts'),
    });
    const following: Following = { database, ledger: (await database.findLedger()).id };
    current = following;
    const outcome = await follow(before, options, { log, peers, following, isFirst });
    if (typeof outcome === 'number') {
      const replica = following.replica as Replica<Answer>;
      return { database, replica, peers, epoch: outcome, sealing, onFault };
    }
    current = undefined;
    await database.close();
    needsCopy = outcome === 'behind';
    if (outcome === 'left' && replicaEntryIn(directory) === 0) return undefined;
    if (outcome !== 'behind' && outcome !== 'left') {
      throw new ClusterError(endSentence(outcome, following.detail), { isPassing: PASSING.includes(outcome) });
    }
  }
}

interface Following extends KeptAccounts {
  /** What the database said when it could not apply an entry. */
  detail?: string | undefined;
  replica?: Replica<Answer>;
}

/** Resolves with the epoch when this replica owns the accounts, or with the reason why it ended before. */
async function follow(
  before: BeforeStore,
  { admit, end }: ReplicaOptions,
  { log, peers, following, isFirst }: { log: ReplicatedLog; peers: Peers; following: Following; isFirst: boolean },
): Promise<number | ReplicaEnd> {
  const { clock, logger } = before;
  const { database } = following;
  const node = nodeId(before);
  const ledger = await database.findLedger();
  let isOwner = false;
  let settle: (outcome: number | ReplicaEnd) => void = () => {};
  const outcome = new Promise<number | ReplicaEnd>((resolve) => {
    settle = resolve;
  });
  const replica = new Replica<Answer>({
    ...{ log, clock, node },
    store: replicaStoreOf(database),
    wallNowMs: Date.now,
    ledger: ledger.id,
    version: STORE_VERSION,
    isFirst,
    claimDelayMs: claimDelayMs(node),
    mayClaim: async (number) => {
      await admit(database);
      return !peers.isAhead(number);
    },
    mayContinue: (number) => !peers.isAhead(number),
    onPosition: ({ number }) => peers.say(number),
    onStuck: (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ reason }, 'the log of the accounts accepts nothing');
    },
    onOwner: (epoch) => {
      isOwner = true;
      settle(epoch);
    },
    onEnd: (reason, { number, epoch }, detail) => {
      logger.warn({ reason, detail, entry: number, epoch }, 'the replica of the accounts ends');
      following.detail = detail;
      settle(reason);
      if (isOwner) end(endSentence(reason, detail));
    },
  });
  following.replica = replica;
  await replica.start();
  peers.say(replica.position.number);
  logger.info({ entry: replica.position.number, ledger: ledger.id }, 'follows the accounts');
  const settled = await outcome;
  if (isOwner) logger.info({ epoch: settled, entry: replica.position.number }, 'owns the accounts');
  return settled;
}

function watchReplica(metrics: Metrics, replica: () => Replica<Answer> | undefined): void {
  metrics.watchGauge(
    'accounts_entry',
    'The last entry of the log that this replica of the accounts contains.',
    () => replica()?.position.number ?? 0,
  );
  metrics.watchGauge('accounts_owner', 'Whether this node owns the accounts: 1 or 0.', () =>
    replica()?.role === 'owning' ? 1 : 0,
  );
}

interface Owned extends Pick<ReplicaOptions, 'onFault'> {
  database: SqliteStore;
  replica: Replica<Answer>;
  peers: Peers;
  epoch: number;
  sealing: Pick<SnapshotsOptions, 'bus' | 'secret' | 'previousSecret' | 'shard'>;
}

function owned(
  { config, clock, defer }: BeforeStore,
  { database, replica, peers, epoch, sealing, onFault }: Owned,
): OwnedReplica {
  const store = createReplicatedStore(database, (calls, version) => replica.propose(calls, version), peers);
  // The timer of the database rings again until it is done.
  database.onLeases(() => void store.expireHolds().catch(() => {}));
  const make = async (id: string) => {
    const path = join(config.data.directory, `snapshot-${id}.db`);
    await copyBeside(join(config.data.directory, DATABASE_NAME), path);
    return path;
  };
  defer(serveSnapshots({ ...sealing, clock, make, onFault }));
  return {
    store,
    ownership: {
      revision: epoch,
      get isSure() {
        return replica.isSure;
      },
      release: () => replica.release(),
    },
  };
}

/** Servers that agree on a log have to be new enough to be trusted with it. */
const SERVER_VERSION_MIN = [2, 12] as const;

/**
 * Why the NATS servers cannot carry the log, in one sentence.
 *
 * @param replicas servers that keep each message
 */
export function logFault(
  { version = '', max_payload: payloadMax = 0 }: { version?: string; max_payload?: number },
  replicas: number,
): string | undefined {
  if (payloadMax < MESSAGE_BYTES_MAX) {
    return `Replicas of the accounts need NATS servers that accept messages of ${MESSAGE_BYTES_MAX} bytes, and these accept ${payloadMax}: set \`max_payload: 1MB\` there.`;
  }
  if (replicas === 1 || !isOlderVersion(version, SERVER_VERSION_MIN)) return undefined;
  return `Replicas of the accounts on ${replicas} NATS servers need nats-server ${SERVER_VERSION_MIN.join('.')} or newer with \`sync_interval: always\`, and this one is ${version}.`;
}
