// The audit log on an open database.

import type { TableContext } from '../table-context.ts';
import type { AuditCalls, AuditEntry, AuditRecord } from './calls.ts';

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

export function createAuditTables({ database, nowText }: Omit<TableContext, 'audit' | 'outbox'>): AuditCalls {
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
