// The store's port: truth that outlives a process, and what may be relied on. sqlite.ts keeps it in a worker thread of its own;
// what each group of calls does is in the file of its shapes.
import type { AccountCalls } from './accounts/calls.ts';
import type { AuditCalls } from './audit-log.ts';
import type { IdempotencyCalls } from './idempotency.ts';
import type { IdentityCalls } from './identity.ts';
import type { KeyCalls } from './keys/calls.ts';
import type { SuspensionChange } from './keys/organisation-tables.ts';
import type { LedgerCalls } from './ledger/calls.ts';
import type { OutboxCalls } from './outbox.ts';
import type { OwnershipCalls } from './ownership.ts';
import type { SessionEventsCalls } from './session-events.ts';
import type { VaultCalls } from './vault.ts';

export type { ApiKey, KeySettings } from './keys/calls.ts';

/** Every call of the store, as the thread that owns the file answers it. */
export interface StoreCalls
  extends KeyCalls,
    AuditCalls,
    OutboxCalls,
    LedgerCalls,
    AccountCalls,
    VaultCalls,
    IdempotencyCalls,
    OwnershipCalls,
    SessionEventsCalls,
    IdentityCalls {}

/** The same calls from another thread. */
export type AsynchronousCalls = {
  [Name in keyof StoreCalls]: (...args: Parameters<StoreCalls[Name]>) => Promise<ReturnType<StoreCalls[Name]>>;
};

/**
 * Promises: every method is asynchronous and may be called at once from anywhere; calls are applied in the order they
 * were made; a rejected promise means that nothing was changed. What is answered is on the disk. `onKeyRevoked` hears of
 * revocations made by any process on the same file, soon after they happen and not by polling.
 */
export interface Store extends AsynchronousCalls {
  onKeyRevoked(listener: (keyId: string) => void): () => void;
  /** Hears of organisations that any process suspends or reinstates, in the same way. */
  onSuspension(listener: (change: SuspensionChange) => void): () => void;
  /**
   * Called when new messages may be in the outbox, written by any process, after the writing call was answered. It is not called
   * for older messages, or for those that are due again: ask for these.
   */
  onOutbox(listener: () => void): () => void;
  close(): Promise<void>;
}
