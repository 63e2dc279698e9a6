// Every operation of the store by name.
import { ACCOUNT_OPERATIONS } from './accounts/calls.ts';
import { AUDIT_OPERATIONS } from './audit-log.ts';
import { IDEMPOTENCY_OPERATIONS } from './idempotency.ts';
import { IDENTITY_OPERATIONS } from './identity.ts';
import { KEY_OPERATIONS } from './keys/calls.ts';
import { LEDGER_OPERATIONS } from './ledger/calls.ts';
import type { CallKind, Operations, RemoteCall } from './operation.ts';
import { OUTBOX_OPERATIONS } from './outbox.ts';
import { OWNERSHIP_OPERATIONS } from './ownership.ts';
import { SESSION_EVENTS_OPERATIONS } from './session-events.ts';
import type { StoreCalls } from './store.ts';
import { VAULT_OPERATIONS } from './vault.ts';

const OPERATIONS = {
  ...KEY_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...OUTBOX_OPERATIONS,
  ...LEDGER_OPERATIONS,
  ...SESSION_EVENTS_OPERATIONS,
  ...VAULT_OPERATIONS,
  ...IDEMPOTENCY_OPERATIONS,
  ...OWNERSHIP_OPERATIONS,
  ...IDENTITY_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
} as const satisfies Operations<StoreCalls>;

export type CallName = keyof StoreCalls;

export const CALL_NAMES = Object.keys(OPERATIONS) as readonly CallName[];

/** The calls that a node without the database may make. */
export type RemoteCallName = {
  [Name in CallName]: (typeof OPERATIONS)[Name]['remote'] extends 'local' ? never : Name;
}[CallName];

export const kindOf = (name: CallName): CallKind => OPERATIONS[name].kind;

/** Undefined for calls that are made only where the database is, and for unknown names. */
export function remoteCall(name: string): RemoteCall | undefined {
  const remote = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name as CallName].remote : 'local';
  return remote === 'local' ? undefined : remote;
}
