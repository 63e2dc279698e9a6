// Whether an organisation shows its members the text of finals while they watch a live session. The text itself is never stored.

export const showTranscripts = `
  ALTER TABLE organisations ADD COLUMN show_transcripts INTEGER NOT NULL DEFAULT 0 CHECK (show_transcripts IN (0, 1));
`;
