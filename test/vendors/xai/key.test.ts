// What xAI says of a key beside its status.
import { expect, it } from 'vitest';
import { credentialCheck } from '../../../src/vendors/xai/api.ts';

it.each([
  [200, { team_blocked: false, api_key_blocked: false, api_key_disabled: false }, 'accepted'],
  [200, { team_blocked: true }, 'refused'],
  [200, { api_key_blocked: true }, 'refused'],
  [200, { api_key_disabled: true }, 'refused'],
  [400, { error: 'Incorrect API key provided.' }, 'refused'],
  [400, { error: 'Another fault.' }, 'unknown'],
  [401, { error: 'No credentials presented.' }, 'refused'],
  [429, { api_key_disabled: true }, 'unknown'],
])('takes %i %j for a key that is %s', (status, body, verdict) => {
  expect(credentialCheck.verdict({ status, headers: {}, body: JSON.stringify(body) })).toBe(verdict);
});
