// The credential of the configuration: one text, whatever the provider's form has for members.
import { expect, it } from 'vitest';
import { apiKeyForm, awsForm, configuredAccess, regionalKeyForm } from '../../../src/vendors/kit/credentials.ts';
import { isServed } from '../../../src/vendors/kit/served.ts';

const URL = 'http://here.test';
const AWS = { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'a-secret', region: 'eu-west-1' };

it.each([
  ['is the key itself', apiKeyForm, '{"api_key":"a"}', { credential: '{"api_key":"a"}' }],
  ['is a key without a region', regionalKeyForm(['eu']), 'a-key', { credential: 'a-key' }],
  [
    'is a JSON object of several members, of which the secret ones are known for such',
    awsForm,
    JSON.stringify({ ...AWS, session_token: 7 }),
    { credential: undefined, fields: AWS, secrets: ['a-secret'] },
  ],
  ['is not an object where it has no member', awsForm, '{}', { credential: '{}' }],
  ['may be absent', awsForm, undefined, { credential: undefined }],
])('%s', (_, form, text, expected) => {
  expect(configuredAccess(form, URL, text)).toEqual({ baseUrl: URL, ...expected });
});

it('serves a provider in each of these forms', () => {
  const isUsed = (text: string | undefined) =>
    isServed({ credential: 'required' }, configuredAccess(awsForm, URL, text));
  expect([JSON.stringify(AWS), 'a-key', undefined].map(isUsed)).toEqual([true, true, false]);
});
