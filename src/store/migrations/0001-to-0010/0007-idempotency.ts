// Idempotency keys of the last day, by organisation. The totals are kept by triggers, so that reading them needs no count.

export const idempotency = `
  CREATE TABLE idempotency_keys (
    number          INTEGER PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisations (id),
    key_hash        BLOB NOT NULL CHECK (length(key_hash) = 32),
    attempt_id      TEXT NOT NULL,
    charge_id       TEXT NOT NULL,
    expires_at_ms   INTEGER NOT NULL,
    lease_until_ms  INTEGER,
    fingerprint     BLOB CHECK (length(fingerprint) = 32),
    sealed          BLOB,
    UNIQUE (organisation_id, key_hash),
    CHECK ((lease_until_ms IS NULL) = (fingerprint IS NOT NULL)),
    CHECK (sealed IS NULL OR fingerprint IS NOT NULL)
  ) STRICT;
  CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at_ms);
  CREATE INDEX idempotency_keys_by_age ON idempotency_keys (organisation_id, number);
  CREATE INDEX idempotency_answers_by_age ON idempotency_keys (organisation_id, number) WHERE sealed IS NOT NULL;

  CREATE TABLE idempotency_totals (
    organisation_id TEXT PRIMARY KEY REFERENCES organisations (id),
    keys            INTEGER NOT NULL CHECK (keys >= 0),
    answers         INTEGER NOT NULL CHECK (answers >= 0),
    bytes           INTEGER NOT NULL CHECK (bytes >= 0)
  ) STRICT;
  CREATE TRIGGER idempotency_keys_added AFTER INSERT ON idempotency_keys BEGIN
    INSERT INTO idempotency_totals (organisation_id, keys, answers, bytes) VALUES (new.organisation_id, 1, 0, 0)
      ON CONFLICT (organisation_id) DO UPDATE SET keys = keys + 1;
  END;
  CREATE TRIGGER idempotency_keys_answered AFTER UPDATE OF sealed ON idempotency_keys BEGIN
    UPDATE idempotency_totals
      SET answers = answers + (new.sealed IS NOT NULL) - (old.sealed IS NOT NULL),
          bytes = bytes + coalesce(length(new.sealed), 0) - coalesce(length(old.sealed), 0)
      WHERE organisation_id = new.organisation_id;
  END;
  CREATE TRIGGER idempotency_keys_gone AFTER DELETE ON idempotency_keys BEGIN
    UPDATE idempotency_totals
      SET keys = keys - 1, answers = answers - (old.sealed IS NOT NULL), bytes = bytes - coalesce(length(old.sealed), 0)
      WHERE organisation_id = old.organisation_id;
  END;
`;
