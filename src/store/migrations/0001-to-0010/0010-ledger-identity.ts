// Which ledger this is, so that another one, or an older copy of it, is not taken for it. One that was made before has its name
// from now on.

export const ledgerIdentity = `
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
