// Credentials of several members: what is wrong with one is told at the start, and nothing that it holds.
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { aws } from '../../src/vendors/aws/index.ts';
import { google } from '../../src/vendors/google/index.ts';
import { groq } from '../../src/vendors/groq/index.ts';

const SECRET = 'canary-4711';
const AWS = { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: SECRET, region: 'eu-west-1' };
const PEM = `-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n`;
const GOOGLE = {
  type: 'service_account',
  project_id: 'p',
  private_key_id: 'i',
  private_key: PEM,
  client_email: 'a@b.c',
};
const catalogue = [aws, groq, google];

const load = (env: Record<string, string>) =>
  loadConfig(env, { providers: catalogue.map(({ name }) => name), catalogue }).providers;

it.each([
  ['a name alone', { AWS_API_KEY: 'simulated' }],
  ['an object', { AWS_API_KEY: JSON.stringify(AWS) }],
  ['an object over several lines', { AWS_API_KEY: JSON.stringify(AWS, null, 2) }],
  ['the key file of a service account', { GOOGLE_API_KEY: JSON.stringify(GOOGLE, null, 2) }],
  ['a key that looks like an object, where it has one member', { GROQ_API_KEY: '{key}' }],
])('%s is taken', (_, env) => {
  expect(Object.values(load(env)).map(({ apiKey }) => apiKey)).toContain(Object.values(env)[0]);
});

it.each([
  [
    'no JSON',
    { AWS_API_KEY: `{"secret_access_key":"${SECRET}}` },
    /^AWS_API_KEY \(providers\.aws\.apiKey\) is no JSON; /,
  ],
  [
    'a member too few',
    { AWS_API_KEY: JSON.stringify({ ...AWS, access_key_id: undefined }) },
    / has no access_key_id; /,
  ],
  ['a host for a region', { AWS_API_KEY: JSON.stringify({ ...AWS, region: 'a.test/#' }) }, / has a wrong region; /],
  [
    'a name that is not known',
    { AWS_API_KEY: JSON.stringify({ ...AWS, [SECRET]: '1' }) },
    / a member that is not known; /,
  ],
  ['spaces in a key', { GROQ_API_KEY: `{ ${SECRET} }` }, / has spaces; it is a text of 1 to 4096 printable/],
])('%s is one sentence', (_, env, sentence) => {
  expect(() => load(env)).toThrow(sentence);
  expect(() => load(env)).not.toThrow(SECRET);
});
