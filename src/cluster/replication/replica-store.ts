// What a replica needs of its database: the port. node/store implements it over the thread that owns the file.
import type { ReplicaPosition } from '../../store/replica-position.ts';
import type { LogEntry } from './entry.ts';

export interface AppliedEntry<Answer> {
  answers: Answer[];
  outcome: string;
}

export interface ReplicaStore<Answer = unknown> {
  position(): Promise<ReplicaPosition>;
  /**
   * Applies the entry and notes the position, in one commit that is on the disk when this resolves. A refused call is an outcome.
   * Rejects when the disk or the file failed: then nothing of it was applied. `leaves`: notes no position, and forgets the entries.
   */
  apply(
    entry: LogEntry,
    bytes: Uint8Array,
    at: { hash: string; sequence: number; leaves: boolean },
  ): Promise<AppliedEntry<Answer>>;
  /** The same entry has another place in the log now. */
  moved(number: number, sequence: number): Promise<void>;
  /** The bytes of the last entries behind that number that are kept, in their order and without a gap. */
  kept(afterNumber: number): Promise<Uint8Array[]>;
  /** The hash of an entry that is kept; undefined for others. */
  hashAt(number: number): Promise<string | undefined>;
}
