// The audit log, which only grows, and the outbox, whose rows go when they are done.

export const auditAndOutbox = `
  CREATE TABLE audit_log (
    number          INTEGER PRIMARY KEY,
    at              TEXT NOT NULL,
    actor_type      TEXT NOT NULL CHECK (actor_type IN ('person', 'key', 'operator', 'system', 'anonymous')),
    actor_id        TEXT NOT NULL,
    address         TEXT,
    organisation_id TEXT,
    action          TEXT NOT NULL CHECK (length(action) BETWEEN 1 AND 60),
    target          TEXT,
    detail          TEXT NOT NULL CHECK (json_valid(detail))
  ) STRICT;
  CREATE INDEX audit_log_by_organisation ON audit_log (organisation_id, number);
  CREATE TRIGGER audit_log_keeps BEFORE UPDATE ON audit_log BEGIN SELECT raise(ABORT, 'the audit log only grows'); END;
  CREATE TRIGGER audit_log_stays BEFORE DELETE ON audit_log BEGIN SELECT raise(ABORT, 'the audit log only grows'); END;

  CREATE TABLE outbox (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    type      TEXT NOT NULL,
    params    TEXT NOT NULL CHECK (json_valid(params)),
    attempts  INTEGER NOT NULL DEFAULT 0,
    due_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX outbox_by_due ON outbox (due_at_ms);
`;
