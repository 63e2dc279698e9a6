// All tables on an open database, put together: the calls of the store as the thread that owns the file answers them.
import type { Database } from 'better-sqlite3';
import type { Suspensions } from '../../accounts/keys/organisation-tables.ts';
import { createKeyTables, type Revocations } from '../../accounts/keys/tables.ts';
import { createAccountTables } from '../../accounts/people/store/tables.ts';
import { createVaultTables } from '../../accounts/vault/store.ts';
import { createJobTables } from '../../jobs/tables.ts';
import { createLedgerTables, type Leases } from '../../money/store/tables.ts';
import { createAuditTables } from '../../store/audit-log.ts';
import { createContentMark } from '../../store/content-mark.ts';
import type { EntryContext } from '../../store/entry.ts';
import { createIdempotencyTables } from '../../store/idempotency.ts';
import { createIdentityTables, type WrittenMark } from '../../store/identity.ts';
import { createOutboxTables, type OutboxNews } from '../../store/outbox.ts';
import { createOwnershipTables, type OwnershipGuard } from '../../store/ownership.ts';
import { createPieceTables } from '../../store/pieces.ts';
import { createSessionEventsTables } from '../../store/session-events.ts';
import type { DrawingContext } from '../../store/table-context.ts';
import { createWebhookTables } from '../../webhooks/store/tables.ts';
import { createOperate } from './operate.ts';
import type { TableCalls } from './store.ts';

export type Tables = TableCalls & Revocations & Suspensions & Leases & OutboxNews & OwnershipGuard & WrittenMark;

/** @param entry the time of the current entry, and what was drawn for the current call */
export function createTables(database: Database, entry: EntryContext): Tables {
  const base = { database, nowMs: entry.nowMs, nowText: entry.nowText };
  const audit = createAuditTables(base);
  const outbox = createOutboxTables(base);
  const { newId, newKey } = entry;
  const context: DrawingContext = { ...base, audit: audit.recordAudit, outbox: outbox.addToOutbox, newId, newKey };
  const ledger = createLedgerTables(context);
  const pieces = createPieceTables(base);
  const { putPiece, findPiece } = pieces;
  const tables: Tables = {
    ...audit,
    ...outbox,
    ...ledger,
    ...createKeyTables(context, ledger),
    ...createAccountTables(context, ledger),
    ...createVaultTables(context),
    ...{ putPiece, findPiece },
    ...createIdempotencyTables(context, pieces),
    ...createJobTables(base, pieces),
    ...createWebhookTables(context),
    ...createOwnershipTables(base),
    ...createSessionEventsTables(base),
    ...createIdentityTables(base),
    ...createContentMark(base),
    ...createOperate(base, entry, () => tables),
  };
  return tables;
}
