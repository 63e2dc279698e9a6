// What names of models mean to a key, and to all keys of an organisation: JSON, null where there are none.

export const aliases = `
  ALTER TABLE api_keys ADD COLUMN aliases TEXT CHECK (json_valid(aliases));
  ALTER TABLE organisations ADD COLUMN aliases TEXT CHECK (json_valid(aliases));
`;
