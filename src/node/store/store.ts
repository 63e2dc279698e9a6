// The store's port: truth that outlives a process, and what may be relied on. sqlite.ts keeps it in a worker thread of its own;
// what each group of calls does is in the file of its shapes.

import type { KeyCalls, KeyEvents } from '../../accounts/keys/calls.ts';
import type { AccountCalls } from '../../accounts/people/store/calls.ts';
import type { VaultCalls } from '../../accounts/vault/store.ts';
import type { LedgerCalls } from '../../money/store/calls.ts';
import type { AuditCalls } from '../../store/audit-log.ts';
import type { IdempotencyCalls } from '../../store/idempotency.ts';
import type { IdentityCalls } from '../../store/identity.ts';
import type { Asynchronous } from '../../store/operation.ts';
import type { OutboxCalls, OutboxEvents } from '../../store/outbox.ts';
import type { OwnershipCalls } from '../../store/ownership.ts';
import type { SessionEventsCalls } from '../../store/session-events.ts';

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
