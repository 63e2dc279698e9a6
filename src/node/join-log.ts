// How a replica of the accounts gets a database that can follow the log: its own, or a copy of the owner's.
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BusError } from '../cluster/bus/bus.ts';
import { hashOfEntry, type LogEnd, type ReplicatedLog } from '../cluster/bus/replicated-log.ts';
import { ClusterError } from '../cluster/membership/name-lease.ts';
import { entryOfBytes, type LogEntry } from '../cluster/replication/entry.ts';
import type { LedgerIdentity } from '../store/identity.ts';
import { DATABASE_NAME } from '../store/keep-database.ts';
import { MIGRATIONS } from '../store/migrations.ts';
import type { ReplicaPosition } from '../store/replica-position.ts';
import { replicaStoreOf } from './store/replicated-store.ts';
import type { SqliteStore } from './store/sqlite-store.ts';

const SNAPSHOT = /^snapshot-.*\.db$/;

export const FOREIGN_LEDGER =
  'The log of the accounts belongs to another ledger: give this node its own VOXGATE_NATS_PREFIX, or move its database away.';

export interface Joining {
  log: ReplicatedLog;
  open(): Promise<SqliteStore>;
  directory: string;
  /** The log goes on behind a gap that this database cannot fill. */
  needsCopy: boolean;
  /** The ledger that the gateway has; undefined before its first start. */
  knownLedger(): Promise<Pick<LedgerIdentity, 'id' | 'generation'> | undefined>;
  fetch(path: string): Promise<void>;
  pause(): Promise<void>;
  onWaiting(sentence: string): void;
}

export interface Joined {
  database: SqliteStore;
  /** No other replica can have more entries. */
  isFirst: boolean;
}

/** The database of this replica, opened. Waits while one node keeps the accounts alone, and for NATS and the owner. */
export async function joinLog(joining: Joining): Promise<Joined> {
  const { directory, log, needsCopy, open, knownLedger } = joining;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(directory)) if (SNAPSHOT.test(name)) rmSync(join(directory, name));
  const known = await patiently(joining, knownLedger);
  const database = await open();
  const own = await database.findLedger();
  const position = await replicaStoreOf(database).position();
  const isOther = known !== undefined && known.id !== own.id;
  const isEmpty = position.number === 0 && (await database.listOrganisations()).length === 0;
  const end = await patiently(joining, async () => {
    const found = await log.end();
    requireNotLeft(position, lastOf(found));
    return found;
  });
  const isAlone = position.number === 0 && !isOther && !isEmpty;
  const last = lastOf(end);
  const isLeft = leaveIn(last) !== undefined;
  // A backup that was restored, or a copy that an operator has put in force: it owns the log once the others are silent.
  const isPutInForce = known !== undefined && own.generation > known.generation;
  if (isAlone && last !== undefined && (isLeft || isPutInForce)) {
    await database.replica({ ask: 'return', position: behind(last, end) });
    return { database, isFirst: isLeft };
  }
  const isBehind = end.last !== undefined && position.sequence + 1 < end.first;
  // What contains no entry may not begin in the middle, except after a first claim of its own that was cut short.
  const isNew = position.number === 0 && end.sequence > 1;
  if (!needsCopy && !isOther && !isBehind && !isNew) return { database, isFirst: isAlone && end.sequence === 0 };
  await database.close();
  if (isOther && !isEmpty) throw new ClusterError(FOREIGN_LEDGER);
  await replaceDatabase(joining);
  return { database: await open(), isFirst: false };
}

/** This node joins later, when the sentence is no longer true. */
class NotYet extends Error {
  override readonly name = 'NotYet';
}

const lastOf = ({ last }: LogEnd): LogEntry | undefined => last && entryOfBytes(last.bytes);

const leaveIn = (entry: LogEntry | undefined): LogEntry | undefined => (entry?.kind === 'leave' ? entry : undefined);

/** A database with everything up to the end of the log may lack what the node that keeps the accounts alone has written since. */
function requireNotLeft({ number }: ReplicaPosition, last: LogEntry | undefined): void {
  const left = leaveIn(last);
  if (left === undefined || number < left.number) return;
  throw new NotYet(
    `The node "${left.node}" keeps the accounts alone: this one follows it when it has VOXGATE_ACCOUNTS_REPLICAS above 1 again.`,
  );
}

/** Behind a gap: what the log does not have is in no other replica, so that each begins with a copy. */
const behind = ({ epoch, number }: LogEntry, { sequence, last }: LogEnd): ReplicaPosition => ({
  epoch,
  number: number + 1,
  hash: last === undefined ? '' : hashOfEntry(last.bytes),
  sequence,
  outcome: '',
});

/** NATS may be without a leader, or the owner away: tried again until it succeeds, with one line that says why. */
async function patiently<Result>({ pause, onWaiting }: Joining, work: () => Promise<Result>): Promise<Result> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BusError || error instanceof NotYet)) throw new ClusterError(hereSentence(error));
      if (!isTold) onWaiting(error instanceof Error ? error.message : String(error));
      await pause();
    }
  }
}

const hereSentence = (error: unknown): string =>
  `This node cannot take a copy of the accounts. ${error instanceof Error ? error.message : String(error)}`;

/** Where SQLite keeps what `PRAGMA user_version` shows. */
const VERSION_OFFSET = 60;

/** The next opening checks the rest. */
function requireKnownSchema(file: string): void {
  const head = Buffer.alloc(VERSION_OFFSET + 4);
  const descriptor = openSync(file, 'r');
  readSync(descriptor, head);
  closeSync(descriptor);
  const version = head.readInt32BE(VERSION_OFFSET);
  if (version <= MIGRATIONS.length) return;
  rmSync(file);
  throw new ClusterError(
    `The owner of the accounts has a database of schema ${version}, and this version knows ${MIGRATIONS.length}: install the owner’s version here.`,
  );
}

async function replaceDatabase(joining: Joining): Promise<void> {
  const { directory, fetch } = joining;
  const path = join(directory, `snapshot-${process.pid}.db`);
  await patiently(joining, async () => {
    rmSync(path, { force: true });
    await fetch(path);
  });
  requireKnownSchema(path);
  const file = join(directory, DATABASE_NAME);
  const kept = `${file}.before-snapshot-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`;
  for (const suffix of ['', '-wal', '-shm']) if (existsSync(file + suffix)) renameSync(file + suffix, kept + suffix);
  renameSync(path, file);
}
