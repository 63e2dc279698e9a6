// Every operation of the store by name.

import { KEY_OPERATIONS } from '../../accounts/keys/calls.ts';
import { ACCOUNT_OPERATIONS } from '../../accounts/people/store/calls.ts';
import { VAULT_OPERATIONS } from '../../accounts/vault/store.ts';
import { LEDGER_OPERATIONS } from '../../money/store/calls.ts';
import { AUDIT_OPERATIONS } from '../../store/audit-log.ts';
import { IDEMPOTENCY_OPERATIONS } from '../../store/idempotency.ts';
import { IDENTITY_OPERATIONS } from '../../store/identity.ts';
import type { CallKind, Operations, RemoteCall } from '../../store/operation.ts';
import { OUTBOX_OPERATIONS } from '../../store/outbox.ts';
import { OWNERSHIP_OPERATIONS } from '../../store/ownership.ts';
import { SESSION_EVENTS_OPERATIONS } from '../../store/session-events.ts';
import type { StoreCalls } from './store.ts';

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
