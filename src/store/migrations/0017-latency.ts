// What a key's live sessions ask for where they say nothing themselves; null where that is the gateway's own setting.

export const latency = `
  ALTER TABLE api_keys ADD COLUMN latency TEXT CHECK (latency IN ('low', 'balanced', 'throughput'));
`;
