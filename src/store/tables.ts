// All tables on an open database, put together: the calls of the store as the thread that owns the file answers them.
import type { Database } from 'better-sqlite3';
import { createAccountTables } from './accounts/tables.ts';
import { createAuditTables } from './audit-log.ts';
import { createIdempotencyTables } from './idempotency.ts';
import { createIdentityTables } from './identity.ts';
import type { Suspensions } from './keys/organisation-tables.ts';
import { createKeyTables, type Revocations } from './keys/tables.ts';
import { createLedgerTables, type Leases } from './ledger/tables.ts';
import { createOutboxTables, type OutboxNews } from './outbox.ts';
import { createOwnershipTables, type OwnershipGuard } from './ownership.ts';
import { createSessionEventsTables } from './session-events.ts';
import type { StoreCalls } from './store.ts';
import type { TableContext } from './table-context.ts';
import { createVaultTables } from './vault.ts';

export type Tables = StoreCalls & Revocations & Suspensions & Leases & OutboxNews & OwnershipGuard;

/** @param nowMs wall-clock milliseconds */
export function createTables(database: Database, nowMs: () => number = Date.now): Tables {
  const base = { database, nowMs, nowText: () => new Date(nowMs()).toISOString() };
  const audit = createAuditTables(base);
  const outbox = createOutboxTables(base);
  const context: TableContext = { ...base, audit: audit.recordAudit, outbox: outbox.addToOutbox };
  const ledger = createLedgerTables(context);
  return {
    ...audit,
    ...outbox,
    ...ledger,
    ...createKeyTables(context),
    ...createAccountTables(context, ledger),
    ...createVaultTables(context),
    ...createIdempotencyTables(context),
    ...createOwnershipTables(base),
    ...createSessionEventsTables(base),
    ...createIdentityTables(base),
  };
}
