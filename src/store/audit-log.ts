// Who did what to a credential or to money, and when. Append-only; written in the transaction of what it tells of.
import { type Asynchronous, first, type Operations, reads, writes } from './operation.ts';
import type { TableBase } from './table-base.ts';

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

export type AuditStore = Asynchronous<AuditCalls>;

export const AUDIT_OPERATIONS = {
  recordAudit: writes(),
  notePrices: writes(),
  listAudit: reads(first('text', 'number', 'number?')),
} as const satisfies Operations<AuditCalls>;

const ROWS_MAX = 1000;
const PRICES = 'prices.changed';
const GATEWAY = { type: 'system', id: 'gateway' } as const;

interface Row {
  number: number;
  at: string;
  actorType: AuditRecord['by']['type'];
  actorId: string;
  address: string | null;
  organisationId: string | null;
  action: string;
  target: string | null;
  detail: string;
}

export function createAuditTables({ database, nowText }: TableBase): AuditCalls {
  const insert = database.prepare<Omit<Row, 'number'>>(
    `INSERT INTO audit_log (at, actor_type, actor_id, address, organisation_id, action, target, detail)
     VALUES (@at, @actorType, @actorId, @address, @organisationId, @action, @target, @detail)`,
  );
  const select = database.prepare<{ organisationId: string | null; before: number; limit: number }, Row>(
    `SELECT number, at, actor_type AS actorType, actor_id AS actorId, address, organisation_id AS organisationId,
            action, target, detail
     FROM audit_log
     WHERE (@organisationId IS NULL OR organisation_id = @organisationId) AND number < @before
     ORDER BY number DESC LIMIT @limit`,
  );
  const lastOf = database.prepare<[string], Pick<Row, 'detail'>>(
    'SELECT detail FROM audit_log WHERE action = ? ORDER BY number DESC LIMIT 1',
  );
  const record = ({ by, organisationId, action, target, detail }: AuditEntry): void => {
    insert.run({
      at: nowText(),
      actorType: by.type,
      actorId: by.id,
      address: by.address ?? null,
      organisationId,
      action,
      target,
      detail: JSON.stringify(detail),
    });
  };
  return {
    recordAudit: record,
    notePrices(version) {
      const last = lastOf.get(PRICES);
      const before = last === undefined ? null : ((JSON.parse(last.detail) as { version?: string }).version ?? null);
      if (before === version) return;
      record({ by: GATEWAY, organisationId: null, action: PRICES, target: null, detail: { version, before } });
    },
    listAudit: (organisationId, limit, before = Number.MAX_SAFE_INTEGER) =>
      select.all({ organisationId, before, limit: Math.max(0, Math.min(limit, ROWS_MAX)) }).map(recordOf),
  };
}

function recordOf({ actorType, actorId, address, detail, ...row }: Row): AuditRecord {
  const by = { type: actorType, id: actorId, ...(address === null ? {} : { address }) };
  return { ...row, by, detail: JSON.parse(detail) as Record<string, unknown> };
}
