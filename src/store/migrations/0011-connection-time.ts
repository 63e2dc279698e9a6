// How long connections to a model were open, where that is what its vendor bills: beside the audio of a line, and like it.

export const connectionTime = `
  ALTER TABLE session_lines ADD COLUMN connection_ms INTEGER NOT NULL DEFAULT 0 CHECK (connection_ms >= 0);
  CREATE TRIGGER session_lines_stay_open BEFORE UPDATE ON session_lines WHEN new.connection_ms < old.connection_ms
    BEGIN SELECT raise(ABORT, 'a line of a session only grows'); END;
`;
