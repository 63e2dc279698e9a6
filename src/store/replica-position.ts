// How far this database has come in the replicated log of its ledger, and the last entries that it contains: what the log may lose,
// a replica can write again. Empty where the accounts are kept by one node.
import type { TableBase } from './table-base.ts';

/** Entries and bytes that are kept. */
const ENTRIES_KEPT = 10_000;
const BYTES_KEPT = 64 * 2 ** 20;

/** The last entry that the database contains. */
export interface ReplicaPosition {
  epoch: number;
  /** Of the entry: grows by one with each. */
  number: number;
  /** Of that entry; empty before the first one. */
  hash: string;
  /** Its sequence in the log. */
  sequence: number;
  /** What it left behind: equal in all databases that applied the same entries to the same content. Made by `outcomeText`. */
  outcome: string;
}

/** @param build of the program that applied the entry: another one may answer with other members */
export const outcomeText = (build: string, digest: string): string => `${build} ${digest}`;

/** Whether two programs may have come to the same content: outcomes of different builds are not compared. */
export function isSameOutcome(one: string, other: string): boolean {
  return one === other || buildOf(one) !== buildOf(other);
}

const buildOf = (outcome: string): string => outcome.slice(0, Math.max(0, outcome.indexOf(' ')));

export const NO_POSITION: ReplicaPosition = { epoch: 0, number: 0, hash: '', sequence: 0, outcome: '' };

export interface ReplicaTables {
  findPosition(): ReplicaPosition;
  /** In the transaction of the entry's calls. */
  notePosition(position: ReplicaPosition, bytes: Uint8Array): void;
  /** The database belongs to no log any more. */
  forgetLog(): void;
  /** The database continues a log that it had left. */
  returnTo(position: ReplicaPosition): void;
  /** The entry has another place in the log now. */
  moveEntry(number: number, sequence: number): void;
  /** The bytes of the kept entries behind that number, in their order and without a gap. */
  keptEntries(afterNumber: number): Uint8Array[];
  /** Undefined for an entry that is not kept. */
  findEntryHash(number: number): string | undefined;
}

export function createReplicaTables({ database }: Pick<TableBase, 'database'>): ReplicaTables {
  const find = database.prepare<[], ReplicaPosition>(
    'SELECT epoch, entry AS number, hash, sequence, outcome FROM replica_position',
  );
  const note = database.prepare<ReplicaPosition>(
    `INSERT INTO replica_position (number, epoch, entry, hash, sequence, outcome)
     VALUES (1, :epoch, :number, :hash, :sequence, :outcome)
     ON CONFLICT (number) DO UPDATE SET epoch = excluded.epoch, entry = excluded.entry, hash = excluded.hash,
       sequence = excluded.sequence, outcome = excluded.outcome`,
  );
  const keep = database.prepare<[number, string, Uint8Array, number]>(
    `INSERT INTO replica_entries (entry, hash, bytes, bytes_before)
     VALUES (?, ?, ?, coalesce((SELECT bytes_before + length(bytes) FROM replica_entries WHERE entry = ?), 0))`,
  );
  const newest = database.prepare<[], { entry: number; total: number }>(
    'SELECT entry, bytes_before + length(bytes) AS total FROM replica_entries ORDER BY entry DESC LIMIT 1',
  );
  const forget = database.prepare<[number, number]>(
    'DELETE FROM replica_entries WHERE entry < max(?, (SELECT min(entry) FROM replica_entries WHERE bytes_before >= ?))',
  );
  const leave = database.prepare('DELETE FROM replica_position');
  const forgetAll = database.prepare('DELETE FROM replica_entries');
  const move = database.prepare<[number, number]>('UPDATE replica_position SET sequence = ? WHERE entry = ?');
  const kept = database
    .prepare<[number], Buffer>('SELECT bytes FROM replica_entries WHERE entry > ? ORDER BY entry')
    .pluck();
  const hash = database.prepare<[number], string>('SELECT hash FROM replica_entries WHERE entry = ?').pluck();

  return {
    findPosition: () => find.get() ?? NO_POSITION,
    notePosition(position, bytes) {
      note.run(position);
      keep.run(position.number, position.hash, bytes, position.number - 1);
      const last = newest.get();
      if (last !== undefined) forget.run(last.entry - ENTRIES_KEPT + 1, last.total - BYTES_KEPT);
    },
    forgetLog: database.transaction(() => {
      leave.run();
      forgetAll.run();
    }),
    returnTo: (position) => void note.run(position),
    moveEntry: (number, sequence) => void move.run(sequence, number),
    keptEntries: (afterNumber) => kept.all(afterNumber),
    findEntryHash: (number) => hash.get(number),
  };
}
