// Who did what to a credential or to money, and when. Append-only; written in the transaction of what it tells of.
import { first, type Operations, reads, writes } from '../operation.ts';

/**
 * Who acts. `id`: of the person, the key or the process; for `operator` the command line of this machine; for `anonymous`,
 * who has proved nothing, the group of addresses that counts as one client. `address` is the remote address of a request.
 */
export interface Actor {
  type: 'person' | 'key' | 'operator' | 'system' | 'anonymous';
  id: string;
  address?: string;
}

export interface AuditEntry {
  by: Actor;
  /** Null for what belongs to no organisation. */
  organisationId: string | null;
  /** `key.created`, `key.revoked`, `provider-key.saved`, `credit.added`, `login.refused`, … */
  action: string;
  /** Id of what it was done to. */
  target: string | null;
  /** Plain data for the reader; never a secret. */
  detail: Readonly<Record<string, unknown>>;
}

export interface AuditRecord extends AuditEntry {
  number: number;
  /** ISO 8601 UTC. */
  at: string;
}

export interface AuditCalls {
  recordAudit(entry: AuditEntry): void;
  /** Prices are in force under this version: an entry `prices.changed`, unless it was so at the last start. */
  notePrices(version: string): void;
  /** Newest first; `before` is the number of the last one seen. All organisations when the id is null. */
  listAudit(organisationId: string | null, limit: number, before?: number): AuditRecord[];
}

export const AUDIT_OPERATIONS = {
  recordAudit: writes(),
  notePrices: writes(),
  listAudit: reads(first('text', 'number', 'number?')),
} as const satisfies Operations<AuditCalls>;
