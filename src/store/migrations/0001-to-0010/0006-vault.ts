// The organisations' own provider keys, sealed, at most one for each provider; and a sealed text that shows at the start
// whether the key that unseals them is the right one.

export const vault = `
  CREATE TABLE provider_keys (
    number          INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE CHECK (id GLOB 'pk_*'),
    organisation_id TEXT NOT NULL REFERENCES organisations (id),
    provider        TEXT NOT NULL CHECK (length(provider) BETWEEN 1 AND 50),
    name            TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    sealed          TEXT NOT NULL CHECK (sealed GLOB 'v1.????????.?*.?*.?*'),
    last_four       TEXT NOT NULL CHECK (length(last_four) <= 4),
    state           TEXT NOT NULL CHECK (state IN ('untested', 'checking', 'usable', 'failing', 'disabled', 'rejected')),
    failures        INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    created_at      TEXT NOT NULL,
    tested_at       TEXT,
    used_at         TEXT,
    UNIQUE (organisation_id, provider)
  ) STRICT;

  CREATE TABLE vault_canary (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    sealed TEXT NOT NULL CHECK (sealed GLOB 'v1.????????.?*.?*.?*')
  ) STRICT;
`;
