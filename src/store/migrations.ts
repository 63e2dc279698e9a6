// The schema's history, oldest first. A database at version n has had the first n of these; none is ever changed again.

// 0001: Organisations and their API keys. `revocation` counts revocations, so that other processes can ask what is new.
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

// 0002: The audit log, which only grows, and the outbox, whose rows go when they are done.
const auditAndOutbox = `
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

// 0003: What may be said of an organisation and of a key beyond their names. Rows from before are as free as they were.
/** A time as the tables write it: ISO 8601 UTC with milliseconds. What could not be read as one would never be over. */
const TIME = '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]Z';

const keySettings = `
  ALTER TABLE organisations ADD COLUMN suspended_at TEXT CHECK (suspended_at GLOB '${TIME}');
  CREATE INDEX organisations_suspended ON organisations (id) WHERE suspended_at IS NOT NULL;
  ALTER TABLE organisations ADD COLUMN credit_limit_micro_usd INTEGER CHECK (credit_limit_micro_usd >= 0);

  ALTER TABLE api_keys ADD COLUMN expires_at TEXT CHECK (expires_at GLOB '${TIME}');
  ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '["listen","transcribe","tokens"]'
    CHECK (json_valid(scopes) AND json_type(scopes) = 'array' AND json_array_length(scopes) > 0);
  ALTER TABLE api_keys ADD COLUMN models TEXT
    CHECK (models IS NULL OR (json_valid(models) AND json_type(models) = 'array'));
  ALTER TABLE api_keys ADD COLUMN origins TEXT
    CHECK (origins IS NULL OR (json_valid(origins) AND json_type(origins) = 'array'));
  ALTER TABLE api_keys ADD COLUMN requests_per_minute_max INTEGER CHECK (requests_per_minute_max >= 1);
  ALTER TABLE api_keys ADD COLUMN sessions_max INTEGER CHECK (sessions_max >= 1);
  ALTER TABLE api_keys ADD COLUMN tokens_per_minute_max INTEGER CHECK (tokens_per_minute_max >= 1);
  ALTER TABLE api_keys ADD COLUMN daily_spend_micro_usd_max INTEGER CHECK (daily_spend_micro_usd_max >= 0);
  ALTER TABLE api_keys ADD COLUMN grace_until TEXT CHECK (grace_until GLOB '${TIME}');
  ALTER TABLE api_keys ADD COLUMN rolled_to TEXT REFERENCES api_keys (id)
    CHECK ((rolled_to IS NULL) = (grace_until IS NULL));
  ALTER TABLE api_keys ADD COLUMN last_used_at TEXT CHECK (last_used_at GLOB '${TIME}');
`;

// 0004: The ledger. Sessions, transfers, holds and their ends only grow; lines grow in place; balances, spend and open
// holds are sums of the others, kept beside them so that a call need not add up, and compared with them by the audit.
const onlyGrows = (table: string) => `
  CREATE TRIGGER ${table}_keeps BEFORE UPDATE ON ${table} BEGIN SELECT raise(ABORT, 'the ledger only grows'); END;
  CREATE TRIGGER ${table}_stays BEFORE DELETE ON ${table} BEGIN SELECT raise(ABORT, 'the ledger only grows'); END;
`;

const ledger = `
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

// 0005: People, what was mailed to them, and their console sessions. Nothing here opens anything on its own: tokens and
// session ids are kept as SHA-256, passwords as salted slow hashes, and who failed to log in as a hash of the address.
const accounts = `
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

// 0006: The organisations' own provider keys, sealed, at most one for each provider; and a sealed text that shows at the
// start whether the key that unseals them is the right one.
const vault = `
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

// 0007: Idempotency keys of the last day, by organisation. The totals are kept by triggers, so that reading them needs no
// count.
const idempotency = `
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

// 0008: Which owner may write: the highest revision that a node has shown since the database was made.
const ownership = `
  CREATE TABLE ownership (
    number   INTEGER PRIMARY KEY CHECK (number = 1),
    shard    TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    holder   TEXT NOT NULL,
    at       TEXT NOT NULL
  ) STRICT;
  CREATE TRIGGER ownership_grows BEFORE UPDATE ON ownership WHEN new.revision < old.revision BEGIN
    SELECT RAISE(ABORT, 'The revision of an owner never falls.');
  END;
  CREATE TRIGGER ownership_stays BEFORE DELETE ON ownership BEGIN
    SELECT RAISE(ABORT, 'The owner of a database is never forgotten.');
  END;
`;

// 0009: What the charge of a file rests on, and every charge that was more than what was held for it, with the reason why
// it was made anyway. Both only grow. Of what was charged before, the reason is not known: `not_kept`.
const NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

const charges = `
  CREATE TABLE file_charges (
    session      INTEGER PRIMARY KEY REFERENCES sessions (number),
    audio_ms     INTEGER NOT NULL CHECK (audio_ms >= 0),
    channels     INTEGER NOT NULL CHECK (channels >= 1),
    audio_ms_max INTEGER NOT NULL CHECK (audio_ms_max >= 0),
    claimed_ms   INTEGER CHECK (claimed_ms > audio_ms_max)
  ) STRICT;
  ${onlyGrows('file_charges')}

  CREATE TABLE charges_beyond_holds (
    number           INTEGER PRIMARY KEY,
    session          INTEGER NOT NULL REFERENCES sessions (number),
    organisation_id  TEXT NOT NULL REFERENCES balances (account),
    at               TEXT NOT NULL,
    held_micro_usd   INTEGER NOT NULL CHECK (held_micro_usd >= 0),
    posted_micro_usd INTEGER NOT NULL CHECK (posted_micro_usd > held_micro_usd),
    reason           TEXT NOT NULL CHECK (reason IN ('never_held', 'lease_over', 'on_trust', 'less_held', 'not_kept'))
  ) STRICT;
  CREATE INDEX charges_beyond_holds_by_session ON charges_beyond_holds (session);
  ${onlyGrows('charges_beyond_holds')}
  CREATE INDEX holds_by_session ON holds (session);

  INSERT INTO charges_beyond_holds (session, organisation_id, at, held_micro_usd, posted_micro_usd, reason)
    SELECT session, organisation_id, ${NOW}, micro_usd, posted_micro_usd, 'not_kept'
    FROM hold_ends JOIN holds ON number = hold WHERE posted_micro_usd > micro_usd;
  INSERT INTO charges_beyond_holds (session, organisation_id, at, held_micro_usd, posted_micro_usd, reason)
    SELECT session, debit, ${NOW}, 0, sum(micro_usd) - posted, 'not_kept'
    FROM (SELECT session, debit, micro_usd, (SELECT coalesce(sum(posted_micro_usd), 0)
        FROM holds JOIN hold_ends ON hold = holds.number WHERE holds.session = transfers.session) AS posted
      FROM transfers WHERE kind = 'usage')
    GROUP BY session HAVING sum(micro_usd) > posted;
`;

// 0010: Which ledger this is, so that another one, or an older copy of it, is not taken for it. One that was made before
// has its name from now on.
const ledgerIdentity = `
  CREATE TABLE ledger_identity (
    number     INTEGER PRIMARY KEY CHECK (number = 1),
    id         TEXT NOT NULL CHECK (id GLOB 'led_*' AND length(id) = 28),
    generation INTEGER NOT NULL CHECK (generation >= 1),
    replaces   TEXT CHECK (length(replaces) BETWEEN 1 AND 100),
    sequence   INTEGER NOT NULL CHECK (sequence >= 0)
  ) STRICT;
  INSERT INTO ledger_identity (number, id, generation, sequence) VALUES (1, 'led_' || lower(hex(randomblob(12))), 1, 0);
  CREATE TRIGGER ledger_identity_grows BEFORE UPDATE ON ledger_identity
    WHEN new.id <> old.id OR new.generation < old.generation OR new.sequence < old.sequence BEGIN
    SELECT RAISE(ABORT, 'A ledger keeps its identity, and does not go back.');
  END;
  CREATE TRIGGER ledger_identity_stays BEFORE DELETE ON ledger_identity BEGIN
    SELECT RAISE(ABORT, 'The identity of a ledger is never forgotten.');
  END;
`;

// 0011: How long connections to a model were open, where that is what its vendor bills: beside the audio of a line, and
// like it.
const connectionTime = `
  ALTER TABLE session_lines ADD COLUMN connection_ms INTEGER NOT NULL DEFAULT 0 CHECK (connection_ms >= 0);
  CREATE TRIGGER session_lines_stay_open BEFORE UPDATE ON session_lines WHEN new.connection_ms < old.connection_ms
    BEGIN SELECT raise(ABORT, 'a line of a session only grows'); END;
`;

// 0012: Links that make somebody a member of an organisation: the token of each is known to its mail, or to who was shown
// it, alone. Without an address it is for whoever opens it first; such a link is made for the first owner only.
const invitations = `
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

// 0013: More roles than the owner's, the organisation that a console session works in, and how often invitations are
// mailed. Whoever was a member before is an owner.
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

// 0014: What happened in sessions that have ended, for whoever looks at them afterwards. It may go at any time: no money
// follows from it.
const sessionEvents = `
  CREATE TABLE session_events (
    number          INTEGER PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisations (id),
    session_id      TEXT NOT NULL,
    events          TEXT NOT NULL,
    kept_at_ms      INTEGER NOT NULL,
    UNIQUE (organisation_id, session_id)
  ) STRICT;
  CREATE INDEX session_events_by_organisation ON session_events (organisation_id, number);
  CREATE INDEX session_events_by_age ON session_events (kept_at_ms);
`;

// 0015: Who made a key, by whose word somebody is invited, and when a person was last logged in. Of what was before, nobody
// knows.
const members = `
  ALTER TABLE api_keys ADD COLUMN made_by TEXT CHECK (made_by GLOB 'per_*');
  ALTER TABLE invitations ADD COLUMN invited_by TEXT REFERENCES people (id) ON DELETE CASCADE;
  CREATE INDEX invitations_by_inviter ON invitations (invited_by);
  ALTER TABLE people ADD COLUMN last_login_at_ms INTEGER;
`;

// 0016: Where audio of a key's and an organisation's requests may go, and the shown members of provider keys: null where
// nobody noted them.
const places = `
  ALTER TABLE api_keys ADD COLUMN regions TEXT;
  ALTER TABLE api_keys ADD COLUMN retention TEXT CHECK (retention = 'none');
  ALTER TABLE organisations ADD COLUMN regions TEXT;
  ALTER TABLE organisations ADD COLUMN retention TEXT CHECK (retention = 'none');
  ALTER TABLE provider_keys ADD COLUMN fields TEXT;
`;

// 0017: What a key's live sessions ask for where they say nothing themselves; null where that is the gateway's own setting.
const latency = `
  ALTER TABLE api_keys ADD COLUMN latency TEXT CHECK (latency IN ('low', 'balanced', 'throughput'));
`;

// 0018: What names of models mean to a key, and to all keys of an organisation: JSON, null where there are none.
const aliases = `
  ALTER TABLE api_keys ADD COLUMN aliases TEXT CHECK (json_valid(aliases));
  ALTER TABLE organisations ADD COLUMN aliases TEXT CHECK (json_valid(aliases));
`;

// 0019: A session may have one model at several prices: a line is of one of them. Those that were there are of the first.
export const rates = `
  CREATE TABLE new_session_lines (
    session           INTEGER NOT NULL REFERENCES sessions (number),
    model             TEXT NOT NULL CHECK (length(model) BETWEEN 1 AND 200),
    own               INTEGER NOT NULL CHECK (own IN (0, 1)),
    rate              INTEGER NOT NULL CHECK (rate >= 0),
    audio_ms          INTEGER NOT NULL CHECK (audio_ms >= 0),
    connection_ms     INTEGER NOT NULL CHECK (connection_ms >= 0),
    unit              TEXT NOT NULL CHECK (unit IN ('minute', 'session')),
    price_micro_usd   INTEGER NOT NULL CHECK (price_micro_usd >= 0),
    minimum_micro_usd INTEGER NOT NULL CHECK (minimum_micro_usd >= 0),
    cost_micro_usd    INTEGER NOT NULL CHECK (cost_micro_usd >= 0 AND (own = 0 OR cost_micro_usd = 0)),
    postings          INTEGER NOT NULL CHECK (postings >= 0),
    PRIMARY KEY (session, model, own, rate)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO new_session_lines
    SELECT session, model, own, 0, audio_ms, connection_ms, unit, price_micro_usd, minimum_micro_usd, cost_micro_usd, postings
    FROM session_lines;
  DROP TABLE session_lines;
  ALTER TABLE new_session_lines RENAME TO session_lines;
  CREATE TRIGGER session_lines_grow BEFORE UPDATE ON session_lines
    WHEN new.audio_ms < old.audio_ms OR new.connection_ms < old.connection_ms OR new.cost_micro_usd < old.cost_micro_usd
      OR new.postings < old.postings
      OR (new.session, new.model, new.own, new.rate, new.unit, new.price_micro_usd, new.minimum_micro_usd)
        IS NOT (old.session, old.model, old.own, old.rate, old.unit, old.price_micro_usd, old.minimum_micro_usd)
    BEGIN SELECT raise(ABORT, 'a line of a session only grows, at its first price'); END;
  CREATE TRIGGER session_lines_stay BEFORE DELETE ON session_lines
    BEGIN SELECT raise(ABORT, 'the ledger only grows'); END;
`;

// 0020: Whether an organisation shows its members the text of finals while they watch a live session. The text itself is
// never stored.
const showTranscripts = `
  ALTER TABLE organisations ADD COLUMN show_transcripts INTEGER NOT NULL DEFAULT 0 CHECK (show_transcripts IN (0, 1));
`;

// 0021: Whether anything was written since the sequence of the ledger was advanced last. Unknown for older files, so 1.
const ledgerWritten = `
  ALTER TABLE ledger_identity ADD COLUMN written INTEGER NOT NULL DEFAULT 1 CHECK (written IN (0, 1));
`;

// 0022: How far the database has come in the replicated log of its ledger, and the last entries of it.
const replica = `
  CREATE TABLE replica_position (
    number   INTEGER PRIMARY KEY CHECK (number = 1),
    epoch    INTEGER NOT NULL CHECK (epoch >= 0),
    entry    INTEGER NOT NULL CHECK (entry >= 0),
    hash     TEXT NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence >= 0),
    outcome  TEXT NOT NULL
  ) STRICT;
  CREATE TABLE replica_entries (
    entry        INTEGER PRIMARY KEY,
    hash         TEXT NOT NULL,
    bytes        BLOB NOT NULL,
    bytes_before INTEGER NOT NULL
  ) STRICT;
`;

// 0023: Contents in pieces, which are null in `expires_at_ms` once something has taken them; answers under an idempotency key may be
// such contents.
const pieces = `
  CREATE TABLE pieces (
    number          INTEGER PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisations (id),
    content_id      TEXT NOT NULL,
    piece           INTEGER NOT NULL CHECK (piece >= 0),
    expires_at_ms   INTEGER,
    bytes           BLOB NOT NULL,
    UNIQUE (organisation_id, content_id, piece)
  ) STRICT;
  CREATE INDEX pieces_by_expiry ON pieces (expires_at_ms) WHERE expires_at_ms IS NOT NULL;
  CREATE INDEX pieces_waiting ON pieces (organisation_id, number) WHERE expires_at_ms IS NOT NULL;

  ALTER TABLE idempotency_keys ADD COLUMN pieces INTEGER NOT NULL DEFAULT 0 CHECK (pieces >= 0);
  ALTER TABLE idempotency_keys ADD COLUMN piece_bytes INTEGER NOT NULL DEFAULT 0 CHECK (piece_bytes >= 0);
  DROP INDEX idempotency_answers_by_age;
  CREATE INDEX idempotency_answers_by_age ON idempotency_keys (organisation_id, number)
    WHERE sealed IS NOT NULL OR pieces > 0;
  DROP TRIGGER idempotency_keys_answered;
  CREATE TRIGGER idempotency_keys_answered AFTER UPDATE OF sealed, pieces ON idempotency_keys BEGIN
    UPDATE idempotency_totals
      SET answers = answers + (new.sealed IS NOT NULL OR new.pieces > 0) - (old.sealed IS NOT NULL OR old.pieces > 0),
          bytes = bytes + coalesce(length(new.sealed), 0) + new.piece_bytes - coalesce(length(old.sealed), 0) - old.piece_bytes
      WHERE organisation_id = new.organisation_id;
    DELETE FROM pieces
      WHERE new.pieces < old.pieces AND organisation_id = old.organisation_id AND content_id = 'answer ' || old.attempt_id;
  END;
  DROP TRIGGER idempotency_keys_gone;
  CREATE TRIGGER idempotency_keys_gone AFTER DELETE ON idempotency_keys BEGIN
    UPDATE idempotency_totals
      SET keys = keys - 1,
          answers = answers - (old.sealed IS NOT NULL OR old.pieces > 0),
          bytes = bytes - coalesce(length(old.sealed), 0) - old.piece_bytes
      WHERE organisation_id = old.organisation_id;
    DELETE FROM pieces
      WHERE old.pieces > 0 AND organisation_id = old.organisation_id AND content_id = 'answer ' || old.attempt_id;
  END;
`;

// 0024: Jobs of other vendors' clients. `attempts`: how often a node has begun one. `kept_until_ms` and `ended_at_ms` are null while a
// job is not over; the summary is null of one whose node was lost.
const jobs = `
  CREATE TABLE job_nodes (
    node           TEXT PRIMARY KEY,
    name           TEXT NOT NULL,
    lease_until_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE jobs (
    number          INTEGER PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisations (id),
    id              TEXT NOT NULL CHECK (length(id) BETWEEN 1 AND 64),
    key_id          TEXT NOT NULL,
    dialect         TEXT NOT NULL,
    node            TEXT NOT NULL,
    attempts        INTEGER NOT NULL CHECK (attempts >= 1),
    stage           TEXT NOT NULL CHECK (stage IN ('queued', 'processing', 'done', 'failed')),
    created_at_ms   INTEGER NOT NULL,
    ended_at_ms     INTEGER,
    kept_until_ms   INTEGER,
    bytes           INTEGER NOT NULL CHECK (bytes >= 0),
    pieces          INTEGER NOT NULL DEFAULT 0 CHECK (pieces >= 0),
    request         BLOB NOT NULL,
    summary         BLOB,
    transcript      BLOB,
    UNIQUE (organisation_id, id),
    CHECK ((ended_at_ms IS NULL) = (stage IN ('queued', 'processing'))),
    CHECK ((kept_until_ms IS NULL) = (ended_at_ms IS NULL))
  ) STRICT;
  CREATE INDEX jobs_by_key ON jobs (organisation_id, key_id, dialect, created_at_ms, id);
  CREATE INDEX jobs_open ON jobs (node) WHERE ended_at_ms IS NULL;
  CREATE INDEX jobs_by_expiry ON jobs (kept_until_ms) WHERE kept_until_ms IS NOT NULL;

  CREATE TABLE job_totals (
    scope TEXT PRIMARY KEY,
    jobs  INTEGER NOT NULL CHECK (jobs >= 0),
    bytes INTEGER NOT NULL CHECK (bytes >= 0)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER jobs_added AFTER INSERT ON jobs BEGIN
    INSERT INTO job_totals (scope, jobs, bytes)
      VALUES ('key ' || new.key_id, 1, new.bytes), ('organisation ' || new.organisation_id, 1, new.bytes), ('store', 1, new.bytes)
      ON CONFLICT (scope) DO UPDATE SET jobs = jobs + 1, bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER jobs_grown AFTER UPDATE OF bytes ON jobs BEGIN
    UPDATE job_totals SET bytes = bytes + new.bytes - old.bytes
      WHERE scope IN ('key ' || new.key_id, 'organisation ' || new.organisation_id, 'store');
  END;
  CREATE TRIGGER jobs_gone AFTER DELETE ON jobs BEGIN
    UPDATE job_totals SET jobs = jobs - 1, bytes = bytes - old.bytes
      WHERE scope IN ('key ' || old.key_id, 'organisation ' || old.organisation_id, 'store');
    DELETE FROM job_totals
      WHERE scope IN ('key ' || old.key_id, 'organisation ' || old.organisation_id) AND jobs = 0;
    DELETE FROM pieces WHERE organisation_id = old.organisation_id AND content_id = 'job ' || old.id;
  END;
`;

// 0025: The answers of operators' calls, under the ids of the calls; and the last place at which replicas compare their contents.
const operatorCalls = `
  CREATE TABLE operator_calls (
    id     TEXT PRIMARY KEY,
    at_ms  INTEGER NOT NULL,
    answer TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX operator_calls_by_age ON operator_calls (at_ms);
  CREATE TABLE content_mark (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    id     TEXT NOT NULL,
    at     TEXT NOT NULL
  ) STRICT;
`;

// 0026: Webhooks: endpoints, what is to be delivered to them, and facts that become deliveries. The triggers note facts in the
// transaction in which they happen. They do nothing without an endpoint, which no operation makes before every replica has this.
const EACH_SUBSCRIBED = (type: string) => `state = 'enabled' AND instr(events, '"${type}"') > 0`;

const webhooks = `
  CREATE TABLE webhook_endpoints (
    number                INTEGER PRIMARY KEY AUTOINCREMENT,
    id                    TEXT NOT NULL UNIQUE CHECK (id GLOB 'we_*'),
    organisation_id       TEXT NOT NULL REFERENCES organisations (id),
    url                   TEXT NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
    events                TEXT NOT NULL CHECK (json_valid(events) AND json_type(events) = 'array'),
    description           TEXT NOT NULL,
    balance_low_micro_usd INTEGER NOT NULL CHECK (balance_low_micro_usd >= 0),
    state                 TEXT NOT NULL CHECK (state IN ('enabled', 'disabled')),
    reason                TEXT CHECK (reason IN ('requested', 'gone', 'failing')),
    secret                BLOB NOT NULL,
    previous_secret       BLOB,
    previous_until_ms     INTEGER,
    failing_since_ms      INTEGER,
    dropped               INTEGER NOT NULL DEFAULT 0 CHECK (dropped >= 0),
    created_at_ms         INTEGER NOT NULL,
    CHECK ((reason IS NULL) = (state = 'enabled')),
    CHECK ((previous_secret IS NULL) = (previous_until_ms IS NULL))
  ) STRICT;
  CREATE INDEX webhook_endpoints_by_organisation ON webhook_endpoints (organisation_id, number);

  CREATE TABLE webhook_deliveries (
    number          INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint        INTEGER NOT NULL REFERENCES webhook_endpoints (number),
    organisation_id TEXT NOT NULL,
    id              TEXT NOT NULL CHECK (id GLOB 'msg_*' AND length(id) <= 100),
    type            TEXT NOT NULL CHECK (length(type) BETWEEN 1 AND 100),
    payload         BLOB NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts        INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    retries         INTEGER NOT NULL DEFAULT 0 CHECK (retries >= 0),
    latest          TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(latest)),
    next_at_ms      INTEGER,
    created_at_ms   INTEGER NOT NULL,
    ended_at_ms     INTEGER,
    UNIQUE (endpoint, id),
    CHECK ((next_at_ms IS NULL) = (state <> 'pending')),
    CHECK ((ended_at_ms IS NULL) = (state = 'pending'))
  ) STRICT;
  CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint, number);
  CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint, next_at_ms, number) WHERE next_at_ms IS NOT NULL;
  CREATE INDEX webhook_deliveries_by_end ON webhook_deliveries (ended_at_ms, number) WHERE ended_at_ms IS NOT NULL;
  CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (state, number);
  CREATE INDEX webhook_deliveries_of_state ON webhook_deliveries (organisation_id, state, number);

  CREATE TABLE webhook_totals (
    scope      TEXT PRIMARY KEY,
    deliveries INTEGER NOT NULL CHECK (deliveries >= 0),
    bytes      INTEGER NOT NULL CHECK (bytes >= 0)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER webhook_deliveries_added AFTER INSERT ON webhook_deliveries BEGIN
    INSERT INTO webhook_totals (scope, deliveries, bytes)
      VALUES ('organisation ' || new.organisation_id, 1, length(new.payload)), ('store', 1, length(new.payload))
      ON CONFLICT (scope) DO UPDATE SET deliveries = deliveries + 1, bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER webhook_deliveries_gone AFTER DELETE ON webhook_deliveries BEGIN
    UPDATE webhook_totals SET deliveries = deliveries - 1, bytes = bytes - length(old.payload)
      WHERE scope IN ('organisation ' || old.organisation_id, 'store');
    DELETE FROM webhook_totals WHERE scope = 'organisation ' || old.organisation_id AND deliveries = 0;
  END;

  CREATE TABLE webhook_facts (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint INTEGER NOT NULL REFERENCES webhook_endpoints (number),
    type     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    detail   TEXT NOT NULL
  ) STRICT;
  CREATE INDEX webhook_facts_by_endpoint ON webhook_facts (endpoint, number);

  CREATE TRIGGER webhook_session_ended AFTER INSERT ON session_ends
    WHEN EXISTS (SELECT 1 FROM webhook_endpoints WHERE organisation_id = new.organisation_id)
    BEGIN
      INSERT INTO webhook_facts (endpoint, type, subject, detail)
        SELECT endpoint.number, 'session.ended', sessions.id, ''
        FROM webhook_endpoints AS endpoint JOIN sessions ON sessions.number = new.session
        WHERE endpoint.organisation_id = new.organisation_id AND ${EACH_SUBSCRIBED('session.ended')}
          AND sessions.mode = 'live' AND substr(sessions.id, -5) <> ':late'
        ORDER BY endpoint.number;
    END;
  CREATE TRIGGER webhook_key_revoked AFTER UPDATE OF revoked_at ON api_keys
    WHEN old.revoked_at IS NULL AND new.revoked_at IS NOT NULL
      AND EXISTS (SELECT 1 FROM webhook_endpoints WHERE organisation_id = new.organisation_id)
    BEGIN
      INSERT INTO webhook_facts (endpoint, type, subject, detail)
        SELECT number, 'key.revoked', new.id, '' FROM webhook_endpoints
        WHERE organisation_id = new.organisation_id AND ${EACH_SUBSCRIBED('key.revoked')}
        ORDER BY number;
    END;
  CREATE TRIGGER webhook_balance_low AFTER UPDATE OF posted_micro_usd ON balances
    WHEN new.posted_micro_usd < old.posted_micro_usd
      AND EXISTS (SELECT 1 FROM webhook_endpoints WHERE organisation_id = new.account)
    BEGIN
      INSERT INTO webhook_facts (endpoint, type, subject, detail)
        SELECT endpoint.number, 'balance.low', new.account, CAST(new.posted_micro_usd AS TEXT)
        FROM webhook_endpoints AS endpoint JOIN organisations ON organisations.id = endpoint.organisation_id
        WHERE endpoint.organisation_id = new.account AND ${EACH_SUBSCRIBED('balance.low')}
          AND old.posted_micro_usd + credit_limit_micro_usd >= balance_low_micro_usd
          AND new.posted_micro_usd + credit_limit_micro_usd < balance_low_micro_usd
        ORDER BY endpoint.number;
    END;
  CREATE TRIGGER webhook_job_ended AFTER UPDATE OF stage ON jobs
    WHEN old.ended_at_ms IS NULL AND new.ended_at_ms IS NOT NULL AND new.dialect = 'voxgate'
      AND EXISTS (SELECT 1 FROM webhook_endpoints WHERE organisation_id = new.organisation_id)
    BEGIN
      INSERT INTO webhook_facts (endpoint, type, subject, detail)
        SELECT number, CASE new.stage WHEN 'done' THEN 'job.completed' ELSE 'job.failed' END, new.id, new.key_id
        FROM webhook_endpoints
        WHERE organisation_id = new.organisation_id
          AND CASE new.stage WHEN 'done' THEN ${EACH_SUBSCRIBED('job.completed')} ELSE ${EACH_SUBSCRIBED('job.failed')} END
        ORDER BY number;
    END;
`;

// 0027: Transcripts of live sessions for endpoints that want them; each waits for the event of the end of its session.
const webhookTranscripts = `
  ALTER TABLE webhook_endpoints ADD COLUMN transcripts INTEGER NOT NULL DEFAULT 0 CHECK (transcripts IN (0, 1));
  CREATE TABLE webhook_transcripts (
    organisation_id TEXT NOT NULL,
    session_id      TEXT NOT NULL CHECK (length(session_id) BETWEEN 1 AND 100),
    sealed          BLOB NOT NULL,
    expires_at_ms   INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, session_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX webhook_transcripts_by_expiry ON webhook_transcripts (expires_at_ms);
`;

// 0028: What the gateway redacts for a key, and for all keys of an organisation: JSON, null where that is nothing.
const redaction = `
  ALTER TABLE api_keys ADD COLUMN redact TEXT CHECK (json_valid(redact));
  ALTER TABLE organisations ADD COLUMN redact TEXT CHECK (json_valid(redact));
`;

// 0029: Addresses that a client named for the end of one job: how often each was tried, with which status, and when it is again. The
// addresses are sealed in the request of the job. `next_at_ms` is null until the job is over, and once nothing more is sent.
const jobCallbacks = `
  CREATE TABLE job_callbacks (
    number          INTEGER PRIMARY KEY AUTOINCREMENT,
    job             INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    position        INTEGER NOT NULL CHECK (position >= 0),
    organisation_id TEXT NOT NULL,
    attempts        INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    status          INTEGER,
    next_at_ms      INTEGER,
    UNIQUE (job, position)
  ) STRICT;
  CREATE INDEX job_callbacks_due ON job_callbacks (organisation_id, next_at_ms, number) WHERE next_at_ms IS NOT NULL;

  CREATE TRIGGER job_callbacks_begin AFTER UPDATE OF stage ON jobs
    WHEN new.ended_at_ms IS NOT NULL AND new.stage <> old.stage
    BEGIN
      UPDATE job_callbacks SET attempts = 0, status = NULL, next_at_ms = new.ended_at_ms WHERE job = new.number;
    END;
`;

// 0030: Client tokens for one use, which are used up; each until it has been over for an hour.
const redeemedTokens = `
  CREATE TABLE redeemed_tokens (
    organisation_id TEXT NOT NULL,
    token_id        TEXT NOT NULL CHECK (length(token_id) BETWEEN 1 AND 100),
    expires_at_ms   INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, token_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX redeemed_tokens_by_expiry ON redeemed_tokens (expires_at_ms, organisation_id, token_id);
`;

/** The hour, day or month of a time, by the period of a ceiling. */
const SPAN_OF = (time: string) => `substr(${time}, 1, CASE period WHEN 'hour' THEN 13 WHEN 'day' THEN 10 ELSE 7 END)`;
const OWNER_OF = (slug: string) => `substr(${slug}, 1, instr(${slug} || '/', '/') - 1)`;

/** Adds the hold `number` to the ceilings that it counts for, or takes it away. */
const COUNT_HOLD = (number: string, sign: '+' | '-') => `
      UPDATE spend_ceilings
      SET held_micro_usd = held_micro_usd ${sign} (SELECT micro_usd FROM holds WHERE holds.number = ${number})
      WHERE scope IN ('gateway', (SELECT organisation_id FROM holds WHERE holds.number = ${number}),
          (SELECT key_id FROM holds WHERE holds.number = ${number}))
        AND (provider = '' OR instr((SELECT coalesce(providers, ' ' || ${OWNER_OF('model')} || ' ')
          FROM holds JOIN sessions ON sessions.number = session WHERE holds.number = ${number}), ' ' || provider || ' ') > 0);`;

// 0031: Ceilings on spend, with what counts under each. `providers`: those that a hold is for; absent for that of the session's model.
const spendCeilings = `
  ALTER TABLE api_keys ADD COLUMN spend_ceilings TEXT
    CHECK (spend_ceilings IS NULL OR (json_valid(spend_ceilings) AND json_type(spend_ceilings) = 'array'));
  ALTER TABLE organisations ADD COLUMN spend_ceilings TEXT
    CHECK (spend_ceilings IS NULL OR (json_valid(spend_ceilings) AND json_type(spend_ceilings) = 'array'));
  ALTER TABLE holds ADD COLUMN providers TEXT;
  CREATE TABLE spend_ceilings (
    scope           TEXT NOT NULL,
    provider        TEXT NOT NULL,
    period          TEXT NOT NULL CHECK (period IN ('hour', 'day', 'month')),
    organisation_id TEXT,
    micro_usd       INTEGER NOT NULL CHECK (micro_usd >= 0),
    span            TEXT NOT NULL,
    spent_micro_usd INTEGER NOT NULL CHECK (spent_micro_usd >= 0),
    held_micro_usd  INTEGER NOT NULL CHECK (held_micro_usd >= 0),
    reported        INTEGER NOT NULL CHECK (reported BETWEEN 0 AND 100),
    PRIMARY KEY (scope, provider, period)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER spend_ceilings_held AFTER INSERT ON open_holds WHEN EXISTS (SELECT 1 FROM spend_ceilings) BEGIN
    ${COUNT_HOLD('new.hold', '+')}
  END;
  CREATE TRIGGER spend_ceilings_given_back AFTER DELETE ON open_holds WHEN EXISTS (SELECT 1 FROM spend_ceilings) BEGIN
    ${COUNT_HOLD('old.hold', '-')}
  END;
  CREATE TRIGGER spend_ceilings_spent AFTER INSERT ON transfers
    WHEN new.kind = 'usage' AND EXISTS (SELECT 1 FROM spend_ceilings)
    BEGIN
      UPDATE spend_ceilings
      SET spent_micro_usd = CASE WHEN ${SPAN_OF('new.at')} > span THEN 0 ELSE spent_micro_usd END + new.micro_usd,
        reported = CASE WHEN ${SPAN_OF('new.at')} > span THEN 0 ELSE reported END,
        span = max(span, ${SPAN_OF('new.at')})
      WHERE scope IN ('gateway', new.debit, (SELECT key_id FROM sessions WHERE number = new.session))
        AND (provider = '' OR provider = ${OWNER_OF('new.note')});
    END;
`;

// 0032: Tags of keys, and of those sessions and files that have some: a JSON object each.
const tags = `
  ALTER TABLE api_keys ADD COLUMN tags TEXT CHECK (json_valid(tags));
  CREATE TABLE session_tags (
    session INTEGER PRIMARY KEY REFERENCES sessions (number),
    tags    TEXT NOT NULL CHECK (json_valid(tags) AND length(tags) <= 2500)
  ) STRICT;
`;

// 0033: Jobs whose audio other nodes can have.
const sharedJobs = `
  ALTER TABLE jobs ADD COLUMN is_shared INTEGER NOT NULL DEFAULT 0 CHECK (is_shared IN (0, 1));
  CREATE INDEX jobs_shared ON jobs (node) WHERE ended_at_ms IS NULL AND is_shared = 1;
  CREATE TRIGGER shared_jobs_gone AFTER DELETE ON jobs WHEN old.is_shared = 1 BEGIN
    DELETE FROM pieces WHERE organisation_id = old.organisation_id AND content_id = 'job ' || old.id || ' ' || old.node;
  END;
`;

// 0034: Usage of each settlement as an event, and the format that an endpoint wants. One trigger notes both facts of an end, so that
// their order is the same in every replica.
const usageEvents = `
  ALTER TABLE webhook_endpoints ADD COLUMN format TEXT NOT NULL DEFAULT 'standard' CHECK (format IN ('standard', 'cloudevents'));
  DROP TRIGGER webhook_session_ended;
  CREATE TRIGGER webhook_session_ended AFTER INSERT ON session_ends
    WHEN EXISTS (SELECT 1 FROM webhook_endpoints WHERE organisation_id = new.organisation_id)
    BEGIN
      INSERT INTO webhook_facts (endpoint, type, subject, detail)
        SELECT endpoint.number, 'session.ended', sessions.id, ''
        FROM webhook_endpoints AS endpoint JOIN sessions ON sessions.number = new.session
        WHERE endpoint.organisation_id = new.organisation_id AND ${EACH_SUBSCRIBED('session.ended')}
          AND sessions.mode = 'live' AND substr(sessions.id, -5) <> ':late'
        ORDER BY endpoint.number;
      INSERT INTO webhook_facts (endpoint, type, subject, detail)
        SELECT endpoint.number, 'usage.recorded', sessions.id, new.settled_at
        FROM webhook_endpoints AS endpoint JOIN sessions ON sessions.number = new.session
        WHERE endpoint.organisation_id = new.organisation_id AND ${EACH_SUBSCRIBED('usage.recorded')}
        ORDER BY endpoint.number;
    END;
`;

// 0035: What providers were sent: added up by day, model, mode, account and reason. Nothing is written here before every replica has this.
const legUsage = `
  CREATE TABLE leg_usage (
    day           TEXT NOT NULL,
    model         TEXT NOT NULL,
    mode          TEXT NOT NULL CHECK (mode IN ('batch', 'live')),
    own           INTEGER NOT NULL CHECK (own IN (0, 1)),
    reason        TEXT NOT NULL CHECK (length(reason) BETWEEN 1 AND 20),
    legs          INTEGER NOT NULL CHECK (legs >= 0),
    audio_ms      INTEGER NOT NULL CHECK (audio_ms >= 0),
    connection_ms INTEGER NOT NULL CHECK (connection_ms >= 0),
    PRIMARY KEY (day, model, mode, own, reason)
  ) STRICT, WITHOUT ROWID;
`;

// 0036: Replacement rules of a key, a JSON array of objects; null for none.
const replacements = `
  ALTER TABLE api_keys ADD COLUMN replacements TEXT CHECK (json_valid(replacements));
`;

// 0037: What counts under ceilings on spend and is not charged: usage of organisations' own provider keys, at the price without the
// margin. `counted_micro_usd`: of a line, in all. Nothing is written here before every replica has this.
const ownSpend = `
  ALTER TABLE session_lines ADD COLUMN counted_micro_usd INTEGER NOT NULL DEFAULT 0
    CHECK (counted_micro_usd >= 0 AND (own = 1 OR counted_micro_usd = 0));
  CREATE TABLE own_holds (
    session         INTEGER PRIMARY KEY REFERENCES sessions (number),
    organisation_id TEXT NOT NULL,
    key_id          TEXT NOT NULL,
    micro_usd       INTEGER NOT NULL CHECK (micro_usd > 0),
    providers       TEXT NOT NULL,
    made_at_ms      INTEGER NOT NULL,
    lease_end_ms    INTEGER NOT NULL CHECK (lease_end_ms > made_at_ms)
  ) STRICT;
  CREATE INDEX own_holds_by_lease ON own_holds (lease_end_ms);
  CREATE TABLE own_spend (
    number    INTEGER PRIMARY KEY,
    session   INTEGER NOT NULL REFERENCES sessions (number),
    at        TEXT NOT NULL,
    model     TEXT NOT NULL CHECK (length(model) BETWEEN 1 AND 200),
    micro_usd INTEGER NOT NULL CHECK (micro_usd > 0)
  ) STRICT;
  CREATE INDEX own_spend_by_time ON own_spend (at);
  ${onlyGrows('own_spend')}
  ${(['held', 'given_back'] as const)
    .map((name) => {
      const [when, row, sign] = name === 'held' ? ['INSERT', 'new', '+'] : ['DELETE', 'old', '-'];
      return `CREATE TRIGGER own_holds_${name} AFTER ${when} ON own_holds BEGIN
        UPDATE spend_ceilings SET held_micro_usd = held_micro_usd ${sign} ${row}.micro_usd
        WHERE scope IN ('gateway', ${row}.organisation_id, ${row}.key_id)
          AND (provider = '' OR instr(${row}.providers, ' ' || provider || ' ') > 0);
      END;`;
    })
    .join('\n  ')}
  CREATE TRIGGER own_spend_counted AFTER INSERT ON own_spend BEGIN
    UPDATE spend_ceilings
    SET spent_micro_usd = CASE WHEN ${SPAN_OF('new.at')} > span THEN 0 ELSE spent_micro_usd END + new.micro_usd,
      reported = CASE WHEN ${SPAN_OF('new.at')} > span THEN 0 ELSE reported END,
      span = max(span, ${SPAN_OF('new.at')})
    WHERE scope IN ('gateway', (SELECT organisation_id FROM sessions WHERE number = new.session),
        (SELECT key_id FROM sessions WHERE number = new.session))
      AND (provider = '' OR provider = ${OWNER_OF('new.model')});
  END;
`;

// 0038: Ceilings and daily limits of keys that were reached, each once, in the transaction in which that happened. Each becomes an event.
// Nothing is written here before every replica has this.
const spendReports = `
  CREATE TABLE spend_reports (
    name            TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisations (id),
    at              TEXT NOT NULL,
    detail          TEXT NOT NULL CHECK (json_valid(detail))
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX spend_reports_by_time ON spend_reports (at);
  CREATE TRIGGER webhook_spend_reached AFTER INSERT ON spend_reports
    WHEN EXISTS (SELECT 1 FROM webhook_endpoints WHERE organisation_id = new.organisation_id)
    BEGIN
      INSERT INTO webhook_facts (endpoint, type, subject, detail)
        SELECT number, 'spend.reached', new.name, new.detail FROM webhook_endpoints
        WHERE organisation_id = new.organisation_id AND ${EACH_SUBSCRIBED('spend.reached')}
        ORDER BY number;
    END;
`;

// 0039: Ceilings that leave cheap models once they are reached: micro-USD a minute.
const ceilingsOfPrice = `
  ALTER TABLE spend_ceilings ADD COLUMN only_up_to_micro_usd INTEGER
    CHECK (only_up_to_micro_usd IS NULL OR only_up_to_micro_usd >= 0);
`;

// 0040: What was served is read from the bills, which have it already.
export const legUsageOfBills = `
  DELETE FROM leg_usage WHERE reason = 'served';
`;

// 0041: How often each class was redacted in a session or file. Nothing is written here before every replica has this.
const sessionRedactions = `
  CREATE TABLE session_redactions (
    session INTEGER NOT NULL REFERENCES sessions (number),
    class   TEXT NOT NULL CHECK (length(class) BETWEEN 1 AND 32),
    count   INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (session, class)
  ) STRICT, WITHOUT ROWID;
  ${onlyGrows('session_redactions')}
`;

/**
 * Grows with every operation that older versions do not know (`since` in operation.ts).
 *
 * Replicas apply a migration at different entries of their log, so from 0022 on each one is the same whenever it is applied and
 * wherever: no clock, nothing random, and rows that operations write before it and after it end up alike.
 */
export const STORE_VERSION = 15;

/** The version that keeps tags. */
export const TAGS_SINCE = 8;

/** The version that adds up what providers were sent. */
export const LEG_USAGE_SINCE = 11;

/** The version that counts own provider keys under ceilings on spend, keeps what is reached until it is delivered, and knows `only_up_to`. */
export const OWN_SPEND_SINCE = 13;

/** The version that keeps how often each class was redacted. */
export const REDACTIONS_SINCE = 14;

/** The version that knows attempts at files, and connections that were opened ahead, among the reasons of legs. */
export const LEG_REASONS_SINCE = 15;

/** The version that keeps less of a hold for a dearer model. */
export const KEPT_HOLDS_SINCE = 15;

export const MIGRATIONS: readonly string[] = [
  organisationsAndKeys,
  auditAndOutbox,
  keySettings,
  ledger,
  accounts,
  vault,
  idempotency,
  ownership,
  charges,
  ledgerIdentity,
  connectionTime,
  invitations,
  teams,
  sessionEvents,
  members,
  places,
  latency,
  aliases,
  rates,
  showTranscripts,
  ledgerWritten,
  replica,
  pieces,
  jobs,
  operatorCalls,
  webhooks,
  webhookTranscripts,
  redaction,
  jobCallbacks,
  redeemedTokens,
  spendCeilings,
  tags,
  sharedJobs,
  usageEvents,
  legUsage,
  replacements,
  ownSpend,
  spendReports,
  ceilingsOfPrice,
  legUsageOfBills,
  sessionRedactions,
];
