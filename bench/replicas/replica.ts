// One replica of the accounts without the rest of a node, for the bench beside it.

import { type NatsBus, openNatsBus } from '../../src/cluster/bus/nats/bus.ts';
import { natsReplicatedLog } from '../../src/cluster/bus/nats/jetstream/replicated-log.ts';
import { Replica } from '../../src/cluster/replication/replica.ts';
import type { Answer } from '../../src/node/store/protocol.ts';
import { createReplicatedStore, replicaStoreOf } from '../../src/node/store/replicated-store.ts';
import type { SqliteStore } from '../../src/node/store/sqlite-store.ts';
import type { Store } from '../../src/node/store/store.ts';
import { backgroundClock } from '../../src/runtime/telemetry/clock.ts';
import { STORE_VERSION } from '../../src/store/migrations.ts';
import { compiledStore } from '../compiled-store.ts';

export interface ReplicaSettings {
  node: string;
  directory: string;
  servers: readonly string[];
  prefix: string;
}

export interface BenchReplica {
  database: SqliteStore;
  replica: Replica<Answer>;
  /** Resolves when it owns the accounts. */
  owned: Promise<Store>;
  close(): Promise<void>;
}

const SECRET = Buffer.from('a-secret-that-is-long-enough-for-a-bench');
const START_MS = 20_000;

/** Follows the log, and owns it where no other replica does. */
export async function openReplica({ node, directory, servers, prefix }: ReplicaSettings): Promise<BenchReplica> {
  const { openSqliteStore } = await compiledStore();
  const bus: NatsBus = await openNatsBus({
    ...{ servers, prefix, startMs: START_MS, missing: 'stop' as const },
    secrets: { secret: SECRET, previousSecret: undefined },
  });
  const database = await openSqliteStore({ directory, isReplica: true });
  const ledger = await database.findLedger();
  let settle: (store: Store) => void = () => {};
  const owned = new Promise<Store>((resolve) => {
    settle = resolve;
  });
  const replica: Replica<Answer> = new Replica<Answer>({
    log: natsReplicatedLog(bus, { shard: '0', replicas: servers.length }),
    ...{ clock: backgroundClock, node, ledger: ledger.id, version: STORE_VERSION, wallNowMs: Date.now },
    store: replicaStoreOf(database),
    onOwner: () => settle(createReplicatedStore(database, (calls) => replica.propose(calls))),
    onEnd: (reason) => {
      throw new Error(`The replica ${node} ended: ${reason}.`);
    },
  });
  await replica.start();
  return {
    ...{ database, replica, owned },
    async close() {
      await replica.release();
      await database.close();
      await bus.close();
    },
  };
}
