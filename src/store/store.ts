// The store's port: truth that outlives a process, and what may be relied on. sqlite.ts keeps it in a worker thread of its own;
// what each group of calls does is in the file of its shapes.
import type { AccountCalls } from './accounts/calls.ts';
import type { AuditCalls } from './audit-log.ts';
import type { IdempotencyCalls } from './idempotency.ts';
import type { IdentityCalls } from './identity.ts';
import type { KeyCalls, KeyEvents } from './keys/calls.ts';
import type { LedgerCalls } from './ledger/calls.ts';
import type { Asynchronous } from './operation.ts';
import type { OutboxCalls, OutboxEvents } from './outbox.ts';
import type { OwnershipCalls } from './ownership.ts';
import type { SessionEventsCalls } from './session-events.ts';
import type { VaultCalls } from './vault.ts';

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
export type AsynchronousCalls = Asynchronous<StoreCalls>;

/**
 * Promises: every method is asynchronous and may be called at once from anywhere; calls are applied in the order they
 * were made; a rejected promise means that nothing was changed. What is answered is on the disk.
 */
export interface Store extends AsynchronousCalls, KeyEvents, OutboxEvents {
  close(): Promise<void>;
}
