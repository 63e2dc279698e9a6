// A session may have one model at several prices: a line is of one of them. Those that were there are of the first.

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
