// More roles than the owner's, the organisation that a console session works in, and how often invitations are mailed. Whoever was a member before is an owner.

export const teams = `
  CREATE TABLE new_memberships (
    person_id       TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    organisation_id TEXT NOT NULL REFERENCES organisations (id),
    role            TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'read_only')),
    joined_at_ms    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (person_id, organisation_id)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO new_memberships (person_id, organisation_id, role) SELECT person_id, organisation_id, role FROM memberships;
  DROP TABLE memberships;
  ALTER TABLE new_memberships RENAME TO memberships;
  CREATE INDEX memberships_by_organisation ON memberships (organisation_id);

  ALTER TABLE console_sessions ADD COLUMN organisation_id TEXT REFERENCES organisations (id);
  UPDATE console_sessions
  SET organisation_id = (SELECT organisation_id FROM memberships WHERE memberships.person_id = console_sessions.person_id LIMIT 1);

  CREATE TABLE new_mail_requests (
    number       INTEGER PRIMARY KEY,
    kind         TEXT NOT NULL CHECK (kind IN ('sign-up', 'verification', 'password-reset', 'address-change', 'invitation')),
    address_hash BLOB NOT NULL CHECK (length(address_hash) = 32),
    asked_by     TEXT NOT NULL,
    at_ms        INTEGER NOT NULL
  ) STRICT;
  INSERT INTO new_mail_requests SELECT number, kind, address_hash, asked_by, at_ms FROM mail_requests;
  DROP TABLE mail_requests;
  ALTER TABLE new_mail_requests RENAME TO mail_requests;
  CREATE INDEX mail_requests_by_address ON mail_requests (kind, address_hash, at_ms);
  CREATE INDEX mail_requests_by_asker ON mail_requests (kind, asked_by, at_ms);
  CREATE INDEX mail_requests_by_age ON mail_requests (at_ms);
`;
