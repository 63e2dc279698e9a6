// What happened in sessions that have ended, for whoever looks at them afterwards. It may go at any time: no money follows from it.

export const sessionEvents = `
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
