// The ledger. Sessions, transfers, holds and their ends only grow; lines grow in place; balances, spend and open holds are sums
// of the others, kept beside them so that a call need not add up, and compared with them by the audit.

export const onlyGrows = (table: string) => `
  CREATE TRIGGER ${table}_keeps BEFORE UPDATE ON ${table} BEGIN SELECT raise(ABORT, 'the ledger only grows'); END;
  CREATE TRIGGER ${table}_stays BEFORE DELETE ON ${table} BEGIN SELECT raise(ABORT, 'the ledger only grows'); END;
`;

export const ledger = `
  CREATE TABLE sessions (
    number            INTEGER PRIMARY KEY,
    id                TEXT NOT NULL UNIQUE CHECK (length(id) BETWEEN 1 AND 100),
    organisation_id   TEXT NOT NULL REFERENCES organisations (id),
    key_id            TEXT NOT NULL,
    mode              TEXT NOT NULL CHECK (mode IN ('batch', 'live')),
    model             TEXT NOT NULL CHECK (length(model) BETWEEN 1 AND 200),
    opened_at         TEXT NOT NULL
  ) STRICT;
  CREATE INDEX sessions_by_organisation ON sessions (organisation_id, opened_at);
  ${onlyGrows('sessions')}

  CREATE TABLE session_lines (
    session           INTEGER NOT NULL REFERENCES sessions (number),
    model             TEXT NOT NULL CHECK (length(model) BETWEEN 1 AND 200),
    own               INTEGER NOT NULL CHECK (own IN (0, 1)),
    audio_ms          INTEGER NOT NULL CHECK (audio_ms >= 0),
    unit              TEXT NOT NULL CHECK (unit IN ('minute', 'session')),
    price_micro_usd   INTEGER NOT NULL CHECK (price_micro_usd >= 0),
    minimum_micro_usd INTEGER NOT NULL CHECK (minimum_micro_usd >= 0),
    cost_micro_usd    INTEGER NOT NULL CHECK (cost_micro_usd >= 0 AND (own = 0 OR cost_micro_usd = 0)),
    postings          INTEGER NOT NULL CHECK (postings >= 0),
    PRIMARY KEY (session, model, own)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER session_lines_grow BEFORE UPDATE ON session_lines
    WHEN new.audio_ms < old.audio_ms OR new.cost_micro_usd < old.cost_micro_usd OR new.postings < old.postings
      OR (new.session, new.model, new.own, new.unit, new.price_micro_usd, new.minimum_micro_usd)
        IS NOT (old.session, old.model, old.own, old.unit, old.price_micro_usd, old.minimum_micro_usd)
    BEGIN SELECT raise(ABORT, 'a line of a session only grows, at its first price'); END;
  CREATE TRIGGER session_lines_stay BEFORE DELETE ON session_lines
    BEGIN SELECT raise(ABORT, 'the ledger only grows'); END;

  CREATE TABLE session_ends (
    session         INTEGER PRIMARY KEY REFERENCES sessions (number),
    organisation_id TEXT NOT NULL,
    ended_at        TEXT NOT NULL,
    settled_at      TEXT NOT NULL,
    reason          TEXT NOT NULL CHECK (length(reason) BETWEEN 1 AND 100),
    code            TEXT CHECK (length(code) BETWEEN 1 AND 100),
    audio_ms        INTEGER NOT NULL CHECK (audio_ms >= 0),
    cost_micro_usd  INTEGER NOT NULL CHECK (cost_micro_usd >= 0)
  ) STRICT;
  CREATE INDEX session_ends_by_organisation ON session_ends (organisation_id, settled_at, cost_micro_usd);
  ${onlyGrows('session_ends')}

  CREATE TABLE balances (
    account          TEXT PRIMARY KEY CHECK (account GLOB 'org_*'
                       OR account IN ('house:revenue', 'house:welcome', 'house:payments', 'house:adjustments')),
    posted_micro_usd INTEGER NOT NULL DEFAULT 0,
    held_micro_usd   INTEGER NOT NULL DEFAULT 0 CHECK (held_micro_usd >= 0)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO balances (account) VALUES ('house:revenue'), ('house:welcome'), ('house:payments'), ('house:adjustments');

  CREATE TABLE transfers (
    number    INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    at        TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('usage', 'welcome', 'top_up', 'adjustment')),
    debit     TEXT NOT NULL REFERENCES balances (account),
    credit    TEXT NOT NULL REFERENCES balances (account),
    micro_usd INTEGER NOT NULL CHECK (micro_usd > 0),
    session   INTEGER REFERENCES sessions (number),
    note      TEXT NOT NULL CHECK (length(note) <= 500),
    CHECK (debit <> credit),
    CHECK ((kind = 'usage') = (session IS NOT NULL)),
    CHECK (kind <> 'usage' OR credit = 'house:revenue')
  ) STRICT;
  CREATE INDEX transfers_to ON transfers (credit, at) WHERE kind <> 'usage';
  CREATE INDEX transfers_from ON transfers (debit, at) WHERE kind <> 'usage';
  ${onlyGrows('transfers')}

  CREATE TABLE holds (
    number          INTEGER PRIMARY KEY,
    session         INTEGER NOT NULL REFERENCES sessions (number),
    organisation_id TEXT NOT NULL REFERENCES balances (account),
    key_id          TEXT NOT NULL,
    micro_usd       INTEGER NOT NULL CHECK (micro_usd > 0),
    made_at_ms      INTEGER NOT NULL,
    lease_end_ms    INTEGER NOT NULL CHECK (lease_end_ms > made_at_ms)
  ) STRICT;
  ${onlyGrows('holds')}

  CREATE TABLE hold_ends (
    hold             INTEGER PRIMARY KEY REFERENCES holds (number),
    kind             TEXT NOT NULL CHECK (kind IN ('post', 'void', 'expire')),
    posted_micro_usd INTEGER NOT NULL CHECK (posted_micro_usd >= 0 AND (kind = 'post') = (posted_micro_usd > 0)),
    ended_at_ms      INTEGER NOT NULL
  ) STRICT;
  ${onlyGrows('hold_ends')}

  CREATE TABLE open_holds (
    session      INTEGER PRIMARY KEY REFERENCES sessions (number),
    hold         INTEGER NOT NULL REFERENCES holds (number),
    lease_end_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX open_holds_by_lease ON open_holds (lease_end_ms);

  CREATE TABLE key_spend (
    key_id    TEXT NOT NULL,
    day       TEXT NOT NULL,
    micro_usd INTEGER NOT NULL CHECK (micro_usd > 0),
    PRIMARY KEY (key_id, day)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE key_holds (
    key_id    TEXT PRIMARY KEY,
    micro_usd INTEGER NOT NULL CHECK (micro_usd >= 0)
  ) STRICT, WITHOUT ROWID;
`;
