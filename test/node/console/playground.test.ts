import { expect, test } from 'vitest';
import type { ConsoleContext, ConsoleRoute } from '../../../src/accounts/console-login/console-route.ts';
import type { ApiKey } from '../../../src/accounts/keys/calls.ts';
import type { Reply } from '../../../src/http/server.ts';
import { type PlaygroundDependencies, playgroundRoutes } from '../../../src/live/routes/playground.ts';
import { apiKey } from '../../fakes/api-keys.ts';

/** What `POST playground` does, over keys that are kept in a list. */
function playground() {
  const keys: ApiKey[] = [];
  let mint: (context: ConsoleContext) => Promise<Reply> = () => Promise.reject();
  const consoleRoute: ConsoleRoute = (endpoint, handle) => {
    if (endpoint === 'POST playground') mint = handle;
    return { method: 'POST', path: endpoint, handle: () => Promise.reject() };
  };
  playgroundRoutes(consoleRoute, {
    store: {
      listKeys: async (organisationId: string) => keys.filter((key) => key.organisationId === organisationId),
      createKey: async (organisationId: string, settings: Partial<ApiKey>) => {
        const key = apiKey({ id: `key_${keys.length}`, organisationId, ...settings });
        keys.push(key);
        return { key, secret: '' };
      },
    },
    authenticator: { mint: ({ keyId }: { keyId: string }) => ({ token: keyId }) },
    limits: { takeToken: () => ({}) },
    nowMs: () => 0,
  } as unknown as PlaygroundDependencies);
  const request = { headers: new Map(), body: async function* () {} };
  const open = async (organisationId: string) => {
    const reply = await mint({ request, organisationId, current: { person: {} } } as unknown as ConsoleContext);
    return (JSON.parse(String(reply.body)) as { token: string }).token;
  };
  return { keys, open };
}

test('pages of the playground that are opened at once share one key of their organisation', async () => {
  const { keys, open } = playground();
  const tokens = await Promise.all([open('org_1'), open('org_1'), open('org_2'), open('org_1')]);
  expect(keys.map(({ organisationId }) => organisationId)).toEqual(['org_1', 'org_2']);
  expect(tokens).toEqual(['key_0', 'key_0', 'key_1', 'key_0']);
});

test('makes another playground when its key was revoked', async () => {
  const { keys, open } = playground();
  const first = await open('org_1');
  keys[0] = { ...keys[0]!, revokedAt: new Date(0).toISOString() };
  expect(await open('org_1')).not.toBe(first);
});
