// What may be said of an organisation and of a key beyond their names. Rows from before are as free as they were.

/** A time as the tables write it: ISO 8601 UTC with milliseconds. What could not be read as one would never be over. */
const TIME = '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]Z';

export const keySettings = `
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
