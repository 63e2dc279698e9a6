// What every group of tables is made with.

import type { Database } from 'better-sqlite3';
import type { AuditEntry } from './audit-log.ts';

export interface TableContext extends TableBase {
  /** Writes to the audit log, in the caller's transaction. */
  audit(entry: AuditEntry): void;
  /** Writes to the outbox, in the caller's transaction. */
  outbox(type: string, params: Readonly<Record<string, unknown>>): void;
}

// The open database and the clock, for tables that write neither to the audit log nor to the outbox.
export interface TableBase {
  /** Open, at the newest schema. A transaction begun here joins the commit that is under way. */
  database: Database;
  /** Wall-clock milliseconds. */
  nowMs(): number;
  /** The same as ISO 8601 UTC. */
  nowText(): string;
}
