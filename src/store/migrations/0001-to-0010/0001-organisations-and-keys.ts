// Organisations and their API keys. `revocation` counts revocations, so that other processes can ask what is new.

export const organisationsAndKeys = `
  CREATE TABLE organisations (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE CHECK (id GLOB 'org_*'),
    name       TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    created_at TEXT NOT NULL
  ) STRICT;

  CREATE TABLE api_keys (
    number          INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE CHECK (id GLOB 'key_*'),
    organisation_id TEXT NOT NULL REFERENCES organisations (id),
    name            TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    hash            BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    display         TEXT NOT NULL CHECK (length(display) < 20),
    created_at      TEXT NOT NULL,
    revoked_at      TEXT,
    revocation      INTEGER UNIQUE,
    CHECK ((revoked_at IS NULL) = (revocation IS NULL))
  ) STRICT;

  CREATE INDEX api_keys_by_organisation ON api_keys (organisation_id, number);
`;
