// What the store and the thread that owns its file say to each other.

import type { SuspensionChange } from '../../accounts/keys/calls.ts';
import type { Drawn } from '../../store/entry.ts';
import type { StoreErrorReason } from '../../store/store-error.ts';
import type { CallName } from './store.ts';

/** What the thread is started with. */
export interface WorkerInput {
  /** Path of the database. */
  file: string;
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

/** Calls, answered in the order of arrival; or the request to close after all calls before it. */
export type ToWorker = { kind: 'calls'; calls: Call[] } | { kind: 'close' };

export type FromWorker =
  | { kind: 'opened' }
  /** Calls of one commit. */
  | { kind: 'answers'; answers: Answer[] }
  | { kind: 'revoked'; keyIds: string[] }
  | { kind: 'suspensions'; changes: SuspensionChange[] }
  | { kind: 'outbox' }
  /** Could not open; the thread ends. */
  | { kind: 'refused'; reason: StoreErrorReason; message: string };

export type Answer =
  | { id: number; value: unknown }
  | { id: number; rejection: { reason: StoreErrorReason; message: string } };
