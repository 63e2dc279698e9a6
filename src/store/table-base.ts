// The open database and the time of the current entry, for tables that write neither to the audit log nor to the outbox.
import type { Database } from 'better-sqlite3';

export interface TableBase {
  /** Open, at the newest schema. A transaction begun here joins the commit that is in progress. */
  database: Database;
  /** Wall-clock milliseconds of the current entry: the same for all of its calls. */
  nowMs(): number;
  /** The same as ISO 8601 UTC. */
  nowText(): string;
}
