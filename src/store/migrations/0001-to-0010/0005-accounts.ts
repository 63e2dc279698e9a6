// People, what was mailed to them, and their console sessions. Nothing here opens anything by itself: tokens and session ids are
// kept as SHA-256, passwords as salted slow hashes, and who failed to log in as a hash of the address.

export const accounts = `
  CREATE TABLE people (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE CHECK (id GLOB 'per_*'),
    email       TEXT NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
    address     TEXT NOT NULL UNIQUE CHECK (length(address) BETWEEN 3 AND 254 AND address = lower(address)),
    password    TEXT NOT NULL CHECK (password GLOB '$*$*$*$*'),
    state       TEXT NOT NULL CHECK (state IN ('unverified', 'verified', 'suspended')),
    created_at  TEXT NOT NULL,
    verified_at TEXT,
    CHECK ((state = 'unverified') = (verified_at IS NULL))
  ) STRICT;

  CREATE TABLE memberships (
    person_id       TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    organisation_id TEXT NOT NULL REFERENCES organisations (id),
    role            TEXT NOT NULL CHECK (role IN ('owner')),
    PRIMARY KEY (person_id, organisation_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX memberships_by_organisation ON memberships (organisation_id);

  CREATE TABLE mail_tokens (
    hash          BLOB PRIMARY KEY CHECK (length(hash) = 32),
    person_id     TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    purpose       TEXT NOT NULL CHECK (purpose IN ('verification', 'password-reset', 'address-change')),
    email         TEXT NOT NULL,
    address       TEXT NOT NULL,
    password      TEXT,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    used_at_ms    INTEGER,
    tries         INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX mail_tokens_by_person ON mail_tokens (person_id, purpose);
  CREATE INDEX mail_tokens_by_age ON mail_tokens (expires_at_ms);

  CREATE TABLE mail_requests (
    number       INTEGER PRIMARY KEY,
    kind         TEXT NOT NULL CHECK (kind IN ('sign-up', 'verification', 'password-reset', 'address-change')),
    address_hash BLOB NOT NULL CHECK (length(address_hash) = 32),
    asked_by     TEXT NOT NULL,
    at_ms        INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX mail_requests_by_address ON mail_requests (kind, address_hash, at_ms);
  CREATE INDEX mail_requests_by_asker ON mail_requests (kind, asked_by, at_ms);
  CREATE INDEX mail_requests_by_age ON mail_requests (at_ms);

  CREATE TABLE sign_ups (
    number INTEGER PRIMARY KEY,
    client TEXT NOT NULL,
    at_ms  INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sign_ups_by_client ON sign_ups (client, at_ms);
  CREATE INDEX sign_ups_by_age ON sign_ups (at_ms);

  CREATE TABLE login_attempts (
    address_hash BLOB PRIMARY KEY CHECK (length(address_hash) = 32),
    attempts     INTEGER NOT NULL CHECK (attempts > 0),
    last_at_ms   INTEGER NOT NULL,
    next_at_ms   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX login_attempts_by_age ON login_attempts (last_at_ms);

  CREATE TABLE refused_logins (
    address_hash BLOB PRIMARY KEY CHECK (length(address_hash) = 32),
    untold       INTEGER NOT NULL CHECK (untold >= 0),
    told_at_ms   INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX refused_logins_by_age ON refused_logins (told_at_ms);

  CREATE TABLE console_sessions (
    number          INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE CHECK (id GLOB 'con_*'),
    hash            BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    person_id       TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    client          TEXT NOT NULL,
    user_agent      TEXT NOT NULL CHECK (length(user_agent) <= 200),
    created_at_ms   INTEGER NOT NULL,
    seen_at_ms      INTEGER NOT NULL,
    confirmed_at_ms INTEGER NOT NULL,
    tries           INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0)
  ) STRICT;
  CREATE INDEX console_sessions_by_person ON console_sessions (person_id, number);
`;
