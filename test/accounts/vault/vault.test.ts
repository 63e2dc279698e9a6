// The vault: keys are tested before they are kept, opened for nobody but their own organisation, and remembered for a while.
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { keyRingOf } from '../../../src/accounts/vault/key-ring.ts';
import { createVault } from '../../../src/accounts/vault/vault.ts';
import { ApiError } from '../../../src/api/errors.ts';
import { apiKeyForm, awsForm, azureForm, googleServiceAccountForm } from '../../../src/vendors/kit/credentials.ts';
import type { CredentialVerdict, Provider, ProviderAccess } from '../../../src/vendors/kit/provider.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';
import { openVaultStore } from '../../fakes/store/vault-store.ts';

const by = { type: 'person', id: 'per_1' } as const;
const CANARY = 'canary-own-key-4711';

const keyed = (name: string, more: Partial<Provider> = {}): Provider => ({
  ...loopback,
  name,
  title: name.toUpperCase(),
  credential: 'required',
  ...more,
});
const known = [
  keyed('plain'),
  keyed('aws', { credentialForm: awsForm }),
  keyed('azure', { credentialForm: azureForm }),
  keyed('google', { credentialForm: googleServiceAccountForm }),
  loopback,
];

function world() {
  const clock = new SimulatedClock();
  const opened = openVaultStore();
  const asked: ProviderAccess[] = [];
  const calls: string[] = [];
  const faults: string[] = [];
  const state: { verdict: CredentialVerdict; broken: boolean } = { verdict: 'accepted', broken: false };
  const store = Object.fromEntries(
    Object.entries(opened.store).map(([name, call]) => [
      name,
      async (...args: unknown[]) => {
        calls.push(name);
        if (state.broken) throw new Error('The disk is gone.');
        return (call as (...args: unknown[]) => unknown)(...args);
      },
    ]),
  ) as unknown as typeof opened.store;
  const vault = createVault({
    store,
    keyRing: keyRingOf(Buffer.alloc(32, 1)),
    providers: new Map(known.map((provider) => [provider.name, provider])),
    addressOf: (provider) => ({ baseUrl: `https://${provider}.test` }),
    check: async (_, access) => {
      asked.push(access);
      return state.verdict;
    },
    clock,
    wallNow: () => Date.UTC(2026, 0, 1),
    onFault: (name, error) => faults.push(`${name}: ${(error as Error).message}`),
  });
  const save = (provider = 'plain', fields: unknown = { api_key: CANARY }, organisationId = 'org_a') =>
    vault.save(organisationId, { provider, name: 'Ours', fields }, by);
  return { ...opened, clock, vault, save, asked, calls, faults, state };
}

async function refusal(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (each: unknown) => each,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).message).not.toContain('canary');
  return error as ApiError;
}

describe('saving a key', () => {
  test('tests it, keeps it sealed, and shows four characters of it', async () => {
    const { save, asked, vault, database } = world();
    const { key, warning } = await save();
    expect([key.state, key.lastFour, warning]).toEqual(['usable', '4711', undefined]);
    expect(asked).toEqual([
      { baseUrl: 'https://plain.test', credential: CANARY, fields: { api_key: CANARY }, secrets: [CANARY] },
    ]);
    expect(
      JSON.stringify([await vault.list('org_a'), database.prepare('SELECT * FROM provider_keys').all()]),
    ).not.toContain(CANARY);
    expect(await vault.open('plain', key.id, 'org_a')).toEqual(asked[0]);
  });

  test('stores and logs nothing when the provider refuses it', async () => {
    const { save, vault, state, audited } = world();
    state.verdict = 'refused';
    expect((await refusal(save())).message).toMatch(/^PLAIN does not accept this key, so it was not saved\./);
    expect([await vault.list('org_a'), audited()]).toEqual([[], []]);
  });

  test('stores it with a warning when it cannot be tested', async () => {
    const { save, state, vault } = world();
    state.verdict = 'unknown';
    const { key, warning } = await save();
    expect([key.state, warning?.startsWith('PLAIN could not be asked')]).toEqual(['untested', true]);
    expect(await vault.ownKeyOf('org_a', 'plain')).toEqual({ id: key.id, barred: false, fields: {} });
  });

  test.each([
    ['nobody', { api_key: CANARY }, 'provider'],
    ['loopback', { api_key: CANARY }, 'provider'],
    ['plain', CANARY, 'fields'],
    ['plain', null, 'fields'],
    ['plain', {}, 'fields.api_key'],
    ['plain', { api_key: '' }, 'fields.api_key'],
    ['plain', { api_key: `${CANARY}\r\nX-Other: 1` }, 'fields.api_key'],
    ['plain', { api_key: CANARY, 'canary-other': 1 }, 'fields'],
    ['plain', { api_key: CANARY, toString: 'canary' }, 'fields'],
    ['aws', { api_key: CANARY }, 'fields.access_key_id'],
    ['azure', { key: CANARY, region: 'evil.test/canary' }, 'fields.region'],
    ['google', { ...googleFields(), token_uri: 'http://169.254.169.254/canary' }, 'fields.token_uri'],
  ])('fails for %s with %j, and names the member without its value', async (provider, fields, param) => {
    const { save, asked } = world();
    expect((await refusal(save(provider, fields))).extras.param).toBe(param);
    expect(asked).toEqual([]);
  });
});

function googleFields() {
  return {
    type: 'service_account',
    project_id: 'a-project',
    private_key_id: '0123',
    private_key: `-----BEGIN PRIVATE KEY-----\n${Buffer.from(CANARY.repeat(6)).toString('base64')}\n-----END PRIVATE KEY-----\n`,
    client_email: 'someone@a-project.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  };
}

describe('credentials that are more than one text', () => {
  const aws = { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: CANARY, region: 'eu-west-1' };
  test.each([
    ['aws', aws, [CANARY], '4711'],
    ['aws', { ...aws, session_token: 'canary-session' }, [CANARY, 'canary-session'], '4711'],
    ['azure', { key: CANARY, region: 'westeurope' }, [CANARY], '4711'],
    ['google', googleFields(), [googleFields().private_key], expect.stringMatching(/^.{4}$/)],
  ])('come back whole from %s, with their secret members marked', async (provider, fields, secrets, lastFour) => {
    const { save, vault } = world();
    const { key } = await save(provider, fields);
    expect(key.lastFour).toEqual(lastFour);
    const baseUrl = `https://${provider}.test`;
    expect(await vault.open(provider, key.id, 'org_a')).toEqual({ baseUrl, credential: undefined, fields, secrets });
  });

  test('consist of text only, with a secret in each form', () => {
    for (const form of [apiKeyForm, awsForm, azureForm, googleServiceAccountForm]) {
      const members = Object.values(form.properties);
      expect(members.filter(({ type }) => type !== 'string')).toEqual([]);
      expect(members.some(({ secret }) => secret === true)).toBe(true);
    }
  });
});

describe('opening a key', () => {
  test.each([
    ['another organisation', 'plain', 'org_b'],
    ['another provider', 'azure', 'org_a'],
  ])('fails for %s', async (_, provider, organisationId) => {
    const { save, vault } = world();
    const { key } = await save();
    await expect(vault.open(provider, key.id, organisationId)).rejects.toThrow(`There is no provider key ${key.id}.`);
  });

  test('fails when it was deleted, disabled or moved in the table', async () => {
    const { save, vault, database, faults, store } = world();
    const { key } = await save();
    await save('azure', { key: CANARY, region: 'westeurope' });
    for (let time = 0; time < 3; time++) await store.noteProviderKeyUse(key.id, 'refused');
    await expect(vault.open('plain', key.id, 'org_a')).rejects.toThrow('is out of use.');
    const other = (await vault.list('org_a')).find(({ provider }) => provider === 'azure')!;
    database
      .prepare('UPDATE provider_keys SET sealed = (SELECT sealed FROM provider_keys WHERE id = ?) WHERE id = ?')
      .run(key.id, other.id);
    await expect(vault.open('azure', other.id, 'org_a')).rejects.toThrow('belongs to something else');
    expect(faults).toEqual([
      `openProviderKey: The provider key ${other.id} does not open. A sealed text of the vault does not open: it was changed, or belongs to something else.`,
    ]);
    await vault.remove('org_a', key.id, by);
    await expect(vault.open('plain', key.id, 'org_a')).rejects.toThrow('There is no provider key');
  });
});

describe('whose key a request runs on', () => {
  test('takes one look-up in 30 s, also when there is none, and one for simultaneous requests', async () => {
    const { vault, save, calls, clock } = world();
    const asks = () => Promise.all([1, 2, 3].map(() => vault.ownKeyOf('org_a', 'plain')));
    expect(await asks()).toEqual([undefined, undefined, undefined]);
    clock.increment(29_999);
    await asks();
    expect(calls).toEqual(['findProviderKey']);
    clock.increment(1);
    await asks();
    expect(calls).toEqual(['findProviderKey', 'findProviderKey']);
    const { key } = await save();
    expect(await vault.ownKeyOf('org_a', 'plain')).toEqual({ id: key.id, barred: false, fields: {} });
    expect(await vault.ownKeyOf('org_b', 'plain')).toBeUndefined();
  });

  test('changes at once with local events: saved again, refused three times, tested, deleted', async () => {
    const { vault, save } = world();
    const own = () => vault.ownKeyOf('org_a', 'plain');
    await save();
    const { key } = await save();
    expect(await own()).toEqual({ id: key.id, barred: false, fields: {} });
    for (let time = 0; time < 3; time++) {
      vault.noteUse(key.id, 'refused');
      await new Promise(setImmediate);
    }
    expect(await own()).toEqual({ id: key.id, barred: true, fields: {} });
    expect((await vault.test('org_a', key.id, by)).key.state).toBe('usable');
    expect(await own()).toEqual({ id: key.id, barred: false, fields: {} });
    await vault.remove('org_a', key.id, by);
    expect(await own()).toBeUndefined();
  });

  test('fails when the look-up fails, and is looked up again the next time', async () => {
    const { vault, state, faults } = world();
    state.broken = true;
    expect((await refusal(vault.ownKeyOf('org_a', 'plain'))).code).toBe('overloaded');
    state.broken = false;
    expect(await vault.ownKeyOf('org_a', 'plain')).toBeUndefined();
    expect(faults).toEqual(['findProviderKey: The disk is gone.']);
  });

  test('stays in memory for 10,000 pairs', async () => {
    const { vault, calls } = world();
    for (let index = 0; index < 10_001; index++) await vault.ownKeyOf(`org_${index}`, 'plain');
    calls.length = 0;
    await vault.ownKeyOf('org_10000', 'plain');
    expect(calls).toEqual([]);
    await vault.ownKeyOf('org_0', 'plain');
    expect(calls).toEqual(['findProviderKey']);
  });
});

describe('noting uses', () => {
  test('writes a success once a minute, a refusal each time until the key is out of use', async () => {
    const { vault, save, calls, clock } = world();
    const { key } = await save();
    calls.length = 0;
    const note = async (outcome: 'accepted' | 'refused') => {
      vault.noteUse(key.id, outcome);
      await new Promise(setImmediate);
      return calls.filter((name) => name === 'noteProviderKeyUse').length;
    };
    expect([await note('accepted'), await note('accepted')]).toEqual([1, 1]);
    clock.increment(60_000);
    expect(await note('accepted')).toBe(2);
    expect([await note('refused'), await note('accepted'), await note('refused')]).toEqual([3, 4, 5]);
    expect([await note('refused'), await note('refused'), await note('refused')]).toEqual([6, 7, 7]);
    expect(await note('accepted')).toBe(8);
    expect((await vault.list('org_a'))[0]?.state).toBe('usable');
  });

  test('logs a failure, and retries with the next use', async () => {
    const { vault, save, state, faults, store } = world();
    const { key } = await save();
    state.broken = true;
    vault.noteUse(key.id, 'accepted');
    await new Promise(setImmediate);
    state.broken = false;
    vault.noteUse(key.id, 'accepted');
    await new Promise(setImmediate);
    expect(faults).toEqual(['noteProviderKeyUse: The disk is gone.']);
    expect((await store.findProviderKey('org_a', 'plain'))?.usedAt).not.toBeNull();
  });
});

test('hides a key of another organisation from tests and deletion', async () => {
  const { vault, save, asked } = world();
  const { key } = await save();
  asked.length = 0;
  expect((await refusal(vault.test('org_b', key.id, by))).code).toBe('not_found');
  expect((await refusal(vault.remove('org_b', key.id, by))).code).toBe('not_found');
  expect([asked, (await vault.list('org_a')).length]).toEqual([[], 1]);
});
