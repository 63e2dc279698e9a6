// The store's port: truth that outlives a process, and what may be relied on. sqlite-store.ts keeps it in its own worker
// thread; what each group of calls does is in the file of its shapes.
import { KEY_OPERATIONS, type KeyCalls, type KeyEvents, type KeyTableCalls } from '../../accounts/keys/calls.ts';
import { ACCOUNT_OPERATIONS, type AccountCalls } from '../../accounts/people/store/calls.ts';
import { VAULT_OPERATIONS, type VaultCalls } from '../../accounts/vault/store.ts';
import { JOB_OPERATIONS, type JobCalls } from '../../jobs/calls.ts';
import { LEDGER_OPERATIONS, type LedgerCalls } from '../../money/store/calls.ts';
import { AUDIT_OPERATIONS, type AuditCalls } from '../../store/audit-log.ts';
import { CONTENT_MARK_OPERATIONS, type ContentMarkCalls } from '../../store/content-mark.ts';
import { IDEMPOTENCY_OPERATIONS, type IdempotencyCalls } from '../../store/idempotency.ts';
import { IDENTITY_OPERATIONS, type IdentityCalls } from '../../store/identity.ts';
import type { Asynchronous, CallKind, Draws, Operations, RemoteCall } from '../../store/operation.ts';
import { OPERATOR_OPERATIONS, type OperatorCalls } from '../../store/operator-calls.ts';
import { OUTBOX_OPERATIONS, type OutboxCalls, type OutboxEvents } from '../../store/outbox.ts';
import { OWNERSHIP_OPERATIONS, type OwnershipCalls } from '../../store/ownership.ts';
import { PIECE_OPERATIONS, type PieceCalls } from '../../store/pieces.ts';
import { SESSION_EVENTS_OPERATIONS, type SessionEventsCalls } from '../../store/session-events.ts';
import { WEBHOOK_OPERATIONS, type WebhookCalls } from '../../webhooks/store/calls.ts';

/** Every call of the store. */
export interface StoreCalls
  extends KeyCalls,
    AuditCalls,
    OutboxCalls,
    LedgerCalls,
    AccountCalls,
    VaultCalls,
    IdempotencyCalls,
    PieceCalls,
    JobCalls,
    WebhookCalls,
    OwnershipCalls,
    SessionEventsCalls,
    IdentityCalls,
    OperatorCalls,
    ContentMarkCalls {}

/** The calls as the tables answer them, in the thread that owns the file. */
export type TableCalls = Omit<StoreCalls, keyof KeyCalls> & KeyTableCalls;

/** The same calls from another thread. */
export type AsynchronousCalls = Asynchronous<StoreCalls>;

/**
 * Promises: every method is asynchronous and may be called at once from anywhere; calls are applied in the order they
 * were made; a rejected promise means that nothing was changed. What is answered is on the disk.
 */
export interface Store extends AsynchronousCalls, KeyEvents, OutboxEvents {
  /** Like `settleSession`, for bills that nobody waits for: they are written together, at most 0.1 s later, and before later calls except holds. */
  settleSoon?: AsynchronousCalls['settleSession'];
  close(): Promise<void>;
}

// Every operation of the store by name.
const OPERATIONS = {
  ...KEY_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...OUTBOX_OPERATIONS,
  ...LEDGER_OPERATIONS,
  ...SESSION_EVENTS_OPERATIONS,
  ...VAULT_OPERATIONS,
  ...IDEMPOTENCY_OPERATIONS,
  ...PIECE_OPERATIONS,
  ...JOB_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...OWNERSHIP_OPERATIONS,
  ...IDENTITY_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...OPERATOR_OPERATIONS,
  ...CONTENT_MARK_OPERATIONS,
} as const satisfies Operations<StoreCalls>;

export type CallName = keyof StoreCalls;

export const CALL_NAMES = Object.keys(OPERATIONS) as readonly CallName[];

/** The calls that a node without the database may make. */
export type RemoteCallName = {
  [Name in CallName]: (typeof OPERATIONS)[Name]['remote'] extends 'local' ? never : Name;
}[CallName];

export const isCallName = (name: string): name is CallName => Object.hasOwn(OPERATIONS, name);

export const kindOf = (name: CallName): CallKind => OPERATIONS[name].kind;

/** Undefined for most operations. */
export const drawsOf = (name: CallName): Draws | undefined => OPERATIONS[name].draws;

/** The version of the store that brought it. */
export const sinceOf = (name: CallName): number => OPERATIONS[name].since ?? 1;

/** Undefined for calls that are made only where the database is, and for unknown names. */
export function remoteCall(name: string): RemoteCall | undefined {
  const remote = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name as CallName].remote : 'local';
  return remote === 'local' ? undefined : remote;
}
