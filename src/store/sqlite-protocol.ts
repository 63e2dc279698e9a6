// What the store and the thread that owns its file say to each other.
import type { KeyCalls } from './key-tables.ts';
import type { StoreErrorReason } from './store-error.ts';

/** What the thread is started with. */
export interface WorkerInput {
  /** Path of the database. */
  file: string;
}

/** A call, answered in the order of arrival; or the wish to close after all calls before it. */
export type ToWorker = { kind: 'call'; id: number; name: keyof KeyCalls; args: readonly unknown[] } | { kind: 'close' };

export type FromWorker =
  | { kind: 'opened' }
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'rejection'; id: number; reason: StoreErrorReason; message: string }
  | { kind: 'revoked'; keyIds: string[] }
  /** Could not open; the thread ends. */
  | { kind: 'refused'; reason: StoreErrorReason; message: string };
