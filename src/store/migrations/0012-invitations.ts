// Links that make somebody a member of an organisation: the token of each is known to its mail, or to who was shown it, alone.
// Without an address it is for whoever opens it first; such a link is made for the first owner only.

export const invitations = `
  CREATE TABLE invitations (
    number          INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE CHECK (id GLOB 'inv_*'),
    hash            BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    organisation_id TEXT NOT NULL REFERENCES organisations (id),
    role            TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'read_only')),
    email           TEXT,
    address         TEXT,
    created_at_ms   INTEGER NOT NULL,
    expires_at_ms   INTEGER NOT NULL,
    tries           INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
    CHECK ((email IS NULL) = (address IS NULL))
  ) STRICT;
  CREATE INDEX invitations_by_organisation ON invitations (organisation_id, number);
  CREATE INDEX invitations_by_age ON invitations (expires_at_ms);
`;
