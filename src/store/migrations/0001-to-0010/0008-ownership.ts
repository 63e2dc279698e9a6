// Which owner may write: the highest revision that a node has shown since the database was made.

export const ownership = `
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
