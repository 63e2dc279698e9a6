// What the store and the thread that owns its file say to each other.

import type { SuspensionChange } from '../../accounts/keys/calls.ts';
import type { Drawn } from '../../store/entry.ts';
import type { ReplicaPosition } from '../../store/replica-position.ts';
import type { StoreErrorReason } from '../../store/store-error.ts';
import type { CallName } from './store.ts';

/** What the thread is started with. */
export interface WorkerInput {
  /** Path of the database. */
  file: string;
  /** Whether it is one of several: then it is written to by entries of the log alone. */
  isReplica: boolean;
}

export interface Call {
  id: number;
  name: CallName;
  args: readonly unknown[];
  /** Set if the operation makes rows with ids or keys. */
  drawn?: Drawn;
}

/** Calls that are applied in one commit, with one time. */
export interface Entry {
  /** Wall-clock milliseconds. */
  nowMs: number;
  calls: readonly Call[];
}

/** What a replica asks of its database. */
export type ReplicaRequest =
  | { ask: 'position' }
  | { ask: 'apply'; bytes: Uint8Array; hash: string; sequence: number; leaves: boolean }
  /** The database continues a log that it had left. */
  | { ask: 'return'; position: ReplicaPosition }
  /** The database belongs to no log any more. */
  | { ask: 'leave' }
  | { ask: 'moved'; number: number; sequence: number }
  | { ask: 'kept'; afterNumber: number }
  | { ask: 'hashAt'; number: number }
  | { ask: 'content'; mark: string };

/**
 * Calls, and requests of the replica, answered in the order of arrival; or the request to close after everything before it.
 */
export type ToWorker =
  | { kind: 'calls'; calls: Call[] }
  | { kind: 'replica'; id: number; request: ReplicaRequest }
  | { kind: 'close' };

export type FromWorker =
  | { kind: 'opened' }
  /** Calls of one commit. */
  | { kind: 'answers'; answers: Answer[] }
  | { kind: 'revoked'; keyIds: string[] }
  | { kind: 'suspensions'; changes: SuspensionChange[] }
  | { kind: 'outbox' }
  /** Holds whose lease is over are to be given back; only where entries of the log do it. */
  | { kind: 'leases' }
  /** The answer to a request of the replica. */
  | ({ kind: 'replica' } & Answer)
  /** Could not open; the thread ends. */
  | { kind: 'refused'; reason: StoreErrorReason; message: string };

export type Answer =
  | { id: number; value: unknown }
  | { id: number; rejection: { reason: StoreErrorReason; message: string } };
