// Where audio of a key's and an organisation's requests may go, and the shown members of provider keys: null where nobody noted them.

export const places = `
  ALTER TABLE api_keys ADD COLUMN regions TEXT;
  ALTER TABLE api_keys ADD COLUMN retention TEXT CHECK (retention = 'none');
  ALTER TABLE organisations ADD COLUMN regions TEXT;
  ALTER TABLE organisations ADD COLUMN retention TEXT CHECK (retention = 'none');
  ALTER TABLE provider_keys ADD COLUMN fields TEXT;
`;
