// What every group of tables is made with.
import type { AuditEntry } from './audit-log.ts';
import type { EntryContext } from './entry.ts';
import type { TableBase } from './table-base.ts';

export interface TableContext extends TableBase {
  /** Writes to the audit log, in the caller's transaction. */
  audit(entry: AuditEntry): void;
  /** Writes to the outbox, in the caller's transaction. */
  outbox(type: string, params: Readonly<Record<string, unknown>>): void;
}

/** For tables whose rows have ids or keys that cannot be guessed. Declare with `drawing` how many an operation takes. */
export interface DrawingContext extends TableContext, Pick<EntryContext, 'newId' | 'newKey'> {}
