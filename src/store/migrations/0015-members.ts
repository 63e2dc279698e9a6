// Who made a key, by whose word somebody is invited, and when a person was last logged in. Of what was before, nobody knows.

export const members = `
  ALTER TABLE api_keys ADD COLUMN made_by TEXT CHECK (made_by GLOB 'per_*');
  ALTER TABLE invitations ADD COLUMN invited_by TEXT REFERENCES people (id) ON DELETE CASCADE;
  CREATE INDEX invitations_by_inviter ON invitations (invited_by);
  ALTER TABLE people ADD COLUMN last_login_at_ms INTEGER;
`;
