// What a node that keeps the accounts answers to operators: its state, its content, and to hand the accounts over.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FIRST_SHARD } from '../cluster/accounts/protocol.ts';
import { OPERATOR_SNAPSHOT } from '../cluster/bus/subjects.ts';
import { askKeepers, type Keeper, type KeeperState, Refused, serveKeeper } from '../cluster/replication/operators.ts';
import type { Replica } from '../cluster/replication/replica.ts';
import { serveSnapshots } from '../cluster/replication/snapshots.ts';
import { auditBeside } from '../money/store/audit/auditor.ts';
import { buildVersion } from '../runtime/version.ts';
import { DATABASE_NAME } from '../store/keep-database.ts';
import { type BeforeStore, nodeId, previousSecret } from './context.ts';
import type { Answer } from './store/protocol.ts';
import { copyBeside } from './store/snapshot/thread.ts';
import type { SqliteStore } from './store/sqlite-store.ts';

/** A standby has so many entries less, at most, when the accounts are handed over to it: it applies them within milliseconds. */
const BEHIND_MAX = 64;
const CATCH_UP_MS = 10_000;
/** A standby applies the entry with the mark a moment after the owner. */
const MARK_MS = 10_000;
const AGAIN_MS = 50;

export interface KeptAccounts {
  database: SqliteStore;
  replica?: Replica<Answer>;
  /** The identity of the ledger in it. */
  ledger: string;
}

export interface KeeperOptions {
  /** The only node that keeps the accounts, without a log. */
  isSingle: boolean;
  /** Undefined while this node joins. */
  current(): KeptAccounts | undefined;
  /** The accounts were handed over: this node starts again. */
  onHandedOver(sentence: string): void;
}

/** Answers operators for as long as the node runs. */
export function serveOperatorsOfKeeper(before: BeforeStore, options: KeeperOptions): void {
  const { bus, clock, config, logger, secret, defer } = before;
  const onFault = (error: unknown) => logger.error({ err: error }, 'accounts fault');
  const keeper: Keeper = {
    state: () => stateOf(nodeId(before), config.cluster.accountsReplicas, options),
    promote: (id, node) => handOver(before, options, { id, node }),
    content: (mark) => contentOf(options.current(), mark),
    audit: async () => {
      const { ok, sessions, transfers, faults } = await auditBeside(config.data.directory);
      return { ok, sessions, transfers, faults };
    },
  };
  defer(serveKeeper(bus, keeper, onFault));
  const make = async (id: string) => {
    if (options.current() === undefined) throw new Refused('This node has no database yet: it is joining.');
    const path = join(config.data.directory, `snapshot-${id}.db`);
    await copyBeside(join(config.data.directory, DATABASE_NAME), path);
    return path;
  };
  const sealing = { bus, secret, previousSecret: previousSecret(config), shard: FIRST_SHARD };
  defer(serveSnapshots({ ...sealing, service: OPERATOR_SNAPSHOT, clock, make, onFault }));
}

function stateOf(id: string, replicas: number, { current, isSingle }: KeeperOptions): KeeperState {
  const kept = current();
  const replica = kept?.replica;
  const state: KeeperState = {
    id,
    role: isSingle && kept !== undefined ? 'single' : 'joining',
    ledger: kept?.ledger ?? null,
    epoch: 0,
    entry: 0,
    version: buildVersion(),
    heardMsAgo: null,
    isSure: isSingle && kept !== undefined,
    replicas,
  };
  if (replica?.position === undefined || replica.role === 'ended') return state;
  return {
    ...state,
    role: replica.role === 'owning' ? 'owner' : 'standby',
    epoch: replica.position.epoch,
    entry: replica.position.number,
    heardMsAgo: replica.entryAgeMs === undefined ? null : Math.round(replica.entryAgeMs),
    isSure: replica.isSure,
  };
}

async function handOver(
  { bus, logger }: BeforeStore,
  { current, onHandedOver }: KeeperOptions,
  to: { id: string; node: string },
): Promise<void> {
  const replica = current()?.replica;
  if (replica?.role !== 'owning') throw new Refused('This node does not own the accounts.');
  const keepers = askKeepers(bus);
  for (const untilMs = performance.now() + CATCH_UP_MS; ; await pause(AGAIN_MS)) {
    const state = await keepers.state(to.node);
    if (state?.role !== 'standby')
      throw new Refused(`${to.id} is not a standby that follows this owner: nothing was changed.`);
    const behind = replica.position.number - state.entry;
    if (behind <= BEHIND_MAX) break;
    if (performance.now() >= untilMs)
      throw new Refused(`${to.id} is ${behind} entries behind, and did not catch up within 10 s: nothing was changed.`);
  }
  logger.info({ to: to.id, entry: replica.position.number }, 'hands the accounts over');
  await replica.release(to.id);
  onHandedOver(`The accounts were handed over to ${to.id}: this node starts again and follows it.`);
}

async function contentOf(kept: KeptAccounts | undefined, mark: string) {
  for (const untilMs = performance.now() + MARK_MS; ; await pause(AGAIN_MS)) {
    const found = await kept?.database.replica({ ask: 'content', mark });
    if (found !== undefined || performance.now() >= untilMs) return found as Awaited<ReturnType<Keeper['content']>>;
  }
}
