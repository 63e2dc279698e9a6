// Provider keys in the console: saved with a test, shown without their secrets, and nobody else's.
import { beforeAll, describe, expect, it } from 'vitest';
import { keyRingOf } from '../../../src/accounts/vault/key-ring.ts';
import { providerKeyRoutes } from '../../../src/accounts/vault/routes.ts';
import { createVault, type Vault } from '../../../src/accounts/vault/vault.ts';
import { providers } from '../../../src/vendors/index.ts';
import type { CredentialVerdict } from '../../../src/vendors/kit/provider.ts';
import { type Browser, type ConsoleRig, openAccount, openConsoleRig } from '../../accounts/people/console-rig.ts';

const SECRET = 'canary-own-key-4711';
const known = new Map(providers.map((provider) => [provider.name, provider]));

let rig: ConsoleRig;
let browser: Browser;
let verdict: CredentialVerdict = 'accepted';

beforeAll(async () => {
  let vault: Vault | undefined;
  // The vault needs the rig's store, and the rig the vault's routes.
  const later: Pick<Vault, 'save' | 'list' | 'test' | 'remove'> = {
    save: (...args) => vault!.save(...args),
    list: (...args) => vault!.list(...args),
    test: (...args) => vault!.test(...args),
    remove: (...args) => vault!.remove(...args),
  };
  rig = await openConsoleRig({ further: [providerKeyRoutes({ vault: later, providers: known })] });
  vault = createVault({
    store: rig.store,
    keyRing: keyRingOf(Buffer.alloc(32, 1)),
    providers: known,
    addressOf: () => ({ baseUrl: undefined }),
    check: async () => verdict,
    clock: { now: () => 0, setTimeout: () => 0, clearTimeout: () => {} },
    wallNow: () => Date.UTC(2026, 0, 1),
    onFault: () => {},
  });
  browser = await openAccount(rig, 'someone@example.com');
});

const save = (body: object, by: Browser = browser) => by.call('POST', 'provider-keys', body);
const list = async (by: Browser = browser) => (await by.get('/console/api/provider-keys')).json() as never as List;
type Key = { id: string; provider: string; state: string; last_four: string; name: string };
type List = {
  data: Key[];
  providers: { name: string; fields: { properties: Record<string, { secret?: boolean }> } }[];
};

describe('a provider key', () => {
  it('can be saved, listed, tested and deleted, and appears in no answer', async () => {
    const saved = await save({ provider: 'deepgram', name: 'Ours', fields: { api_key: SECRET } });
    const { key } = saved.json() as never as { key: Key };
    expect([saved.status, saved.json().warning]).toEqual([201, null]);
    expect(key).toMatchObject({ provider: 'deepgram', name: 'Ours', state: 'usable', last_four: '4711' });
    expect((await list()).data).toEqual([key]);
    verdict = 'refused';
    const tested = await browser.call('POST', `provider-keys/${key.id}/test`);
    expect([tested.status, (tested.json() as never as { key: Key }).key.state]).toEqual([200, 'rejected']);
    verdict = 'accepted';
    const deleted = await browser.call('DELETE', `provider-keys/${key.id}`);
    expect([deleted.status, deleted.json()]).toEqual([200, { id: key.id, deleted: true }]);
    expect((await list()).data).toEqual([]);
  });

  it('stays unsaved when the provider refuses it', async () => {
    verdict = 'refused';
    const { status, code, param } = await save({ provider: 'deepgram', fields: { api_key: SECRET } });
    verdict = 'accepted';
    expect([status, code, param, (await list()).data]).toEqual([400, 'invalid_request', 'fields', []]);
  });

  it('gets saved with a warning when it could not be tested, under the provider’s name', async () => {
    verdict = 'unknown';
    const saved = await save({ provider: 'openai', fields: { api_key: SECRET } });
    verdict = 'accepted';
    expect(saved.json()).toMatchObject({
      key: { name: 'openai', state: 'untested' },
      warning: expect.stringContaining('could not be asked'),
    });
  });

  it.each([
    [{ provider: 'deepgram' }, 'fields'],
    [{ provider: 'deepgram', fields: SECRET }, 'fields'],
    [{ provider: 'deepgram', fields: {} }, 'fields.api_key'],
    [{ provider: 'deepgram', fields: { api_key: SECRET, other: 1 } }, 'fields'],
    [{ provider: 'loopback', fields: { api_key: SECRET } }, 'provider'],
    [{ provider: 'deepgram', name: 'a\nb', fields: { api_key: SECRET } }, 'name'],
    [{ provider: 'deepgram', fields: { api_key: SECRET }, organisation_id: 'org_other' }, 'organisation_id'],
  ])('fails with %j', async (body, wrong) => {
    const { status, param } = await save(body);
    expect([status, param]).toEqual([400, wrong]);
  });
});

it('lists the providers that take a key, and the fields of each', async () => {
  const { providers: keyed } = await list();
  const needing = providers.filter(({ credential }) => credential === 'required');
  expect(keyed.map(({ name }) => name)).toEqual(needing.map(({ name }) => name));
  expect(keyed[0]?.fields.properties).toMatchObject({ api_key: { type: 'string', secret: true } });
});

it('hides another organisation’s key from listing, testing and deletion', async () => {
  const saved = await save({ provider: 'assemblyai', fields: { api_key: SECRET } });
  const { key } = saved.json() as never as { key: Key };
  const other = await openAccount(rig, 'other@example.com');
  expect((await list(other)).data).toEqual([]);
  expect((await other.call('POST', `provider-keys/${key.id}/test`)).status).toBe(404);
  expect((await other.call('DELETE', `provider-keys/${key.id}`)).status).toBe(404);
  expect((await list()).data.map(({ id }) => id)).toContain(key.id);
});

it('keeps secrets out of answers and the database', async () => {
  expect(rig.answers.length).toBeGreaterThan(15);
  expect(rig.answers.filter((answer) => answer.includes('canary'))).toEqual([]);
  const rows = rig.database.prepare('SELECT * FROM provider_keys').all();
  const audit = rig.database.prepare('SELECT * FROM audit_log').all();
  expect([rows.length, JSON.stringify([rows, audit]).includes('canary')]).toEqual([2, false]);
  expect(JSON.stringify(audit)).toContain('provider-key.saved');
});
