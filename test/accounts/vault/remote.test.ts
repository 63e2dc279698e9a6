// The vault from afar: it does what the vault does that has the keys, and what it opens only the node that asked can read.
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { keyRingOf, VaultError } from '../../../src/accounts/vault/key-ring.ts';
import { answerVaultCalls, createRemoteVault, VAULT_GROUP } from '../../../src/accounts/vault/remote.ts';
import { createVault } from '../../../src/accounts/vault/vault.ts';
import { ApiError } from '../../../src/api/errors.ts';
import { plainOfText, textOfPlain } from '../../../src/runtime/plain-data.ts';
import type { Ask } from '../../../src/store/operation.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import type { CredentialVerdict, Provider } from '../../../src/vendors/kit/provider.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';
import { openVaultStore } from '../../fakes/store/vault-store.ts';

const by = { type: 'person', id: 'per_1' } as const;
const CANARY = 'canary-own-key-4711';
const plain: Provider = { ...loopback, name: 'plain', title: 'PLAIN', credential: 'required' };

function world() {
  const clock = new SimulatedClock();
  const opened = openVaultStore();
  const state: { verdict: CredentialVerdict; away: boolean; deaf: boolean } = {
    verdict: 'accepted',
    away: false,
    deaf: false,
  };
  const faults: string[] = [];
  const vault = createVault({
    store: opened.store,
    keyRing: keyRingOf(Buffer.alloc(32, 1)),
    providers: new Map([plain, loopback].map((provider) => [provider.name, provider])),
    addressOf: (provider) => ({ baseUrl: `https://${provider}.test` }),
    check: async () => state.verdict,
    clock,
    wallNow: () => Date.UTC(2026, 0, 1),
    onFault: (name, error) => faults.push(`${name}: ${(error as Error).message}`),
  });
  const answer = answerVaultCalls({ vault, store: opened.store });
  const calls: string[] = [];
  const answers: unknown[] = [];
  /** As on the bus: what goes and comes is text. */
  const ask: Ask = async (group, organisationId, call, args) => {
    expect(group).toBe(VAULT_GROUP);
    calls.push(call);
    if (state.away) throw new StoreError('unreachable', 'Nobody answers.');
    const given = await answer({ organisationId, call, args: plainOfText(textOfPlain(args)) as unknown[] });
    answers.push(given);
    return plainOfText(textOfPlain(given));
  };
  const lookUps: string[] = [];
  const store = {
    listProviderKeys: opened.store.listProviderKeys,
    findProviderKey: async (organisationId: string, provider: string) => {
      lookUps.push(provider);
      if (state.away) throw new StoreError('unreachable', 'Nobody answers.');
      return opened.store.findProviderKey(organisationId, provider);
    },
  };
  const onFault = (name: string, error: unknown) => faults.push(`${name}: ${(error as Error).message}`);
  const remote = createRemoteVault({ ask, store, clock, hearsNews: () => !state.deaf, onFault });
  const save = (organisationId = 'org_a', fields: unknown = { api_key: CANARY }) =>
    remote.save(organisationId, { provider: 'plain', name: 'Ours', fields }, by);
  return { ...opened, vault, remote, save, answer, answers, calls, lookUps, faults, state, clock };
}

const caught = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a vault from afar', () => {
  test('keeps, lists, tests and removes keys as the near one does', async () => {
    const { remote, vault, save, audited } = world();
    const { key, warning } = await save();
    expect([key.lastFour, key.state, warning]).toEqual(['4711', 'usable', undefined]);
    expect(await remote.list('org_a')).toEqual(await vault.list('org_a'));
    expect((await remote.test('org_a', key.id, by)).key.state).toBe('usable');
    await remote.remove('org_a', key.id, by);
    expect(await vault.list('org_a')).toEqual([]);
    expect(audited().every((entry) => entry.by.id === 'per_1')).toBe(true);
  });

  test('opens a key for its own organisation alone, and no answer shows it', async () => {
    const { remote, vault, save, answers } = world();
    const { key } = await save();
    expect(await remote.open('plain', key.id, 'org_a')).toEqual(await vault.open('plain', key.id, 'org_a'));
    for (const work of [remote.open('plain', key.id, 'org_b'), remote.open('plain', 'pk_none', 'org_a')]) {
      expect(await caught(work)).toBeInstanceOf(VaultError);
    }
    const bytes = answers.map((given) => Buffer.from((given as { box?: Uint8Array }).box ?? []).toString('latin1'));
    expect([textOfPlain(answers), ...bytes].filter((text) => text.includes('canary'))).toEqual([]);
  });

  test('does not open a box that was made for another node, or of another key', async () => {
    const { answer, vault, save, state, clock } = world();
    const { key } = await save();
    const boxes: unknown[] = [];
    const node = (box?: unknown) =>
      createRemoteVault({
        ask: async (_, organisationId, call, args) => {
          const given = await answer({ organisationId, call, args });
          boxes.push(given);
          return box ?? given;
        },
        store: {} as never,
        clock,
        onFault: () => {},
      });
    await node().open('plain', key.id, 'org_a');
    expect(await caught(node(boxes[0]).open('plain', key.id, 'org_a'))).toBeInstanceOf(VaultError);
    const same = node();
    await same.open('plain', key.id, 'org_a');
    expect([state.verdict, (await vault.list('org_a')).length]).toEqual(['accepted', 1]);
  });

  test('passes refusals on as they were', async () => {
    const { save, remote, state } = world();
    state.verdict = 'refused';
    for (const work of [save(), save('org_a', { api_key: '' }), remote.test('org_a', 'pk_none', by)]) {
      const error = await caught(work);
      expect(error).toBeInstanceOf(ApiError);
      expect((error as ApiError).message).not.toContain('canary');
    }
  });

  test('knows which key an organisation has for 30 s, and at once what was changed here', async () => {
    const { remote, save, lookUps, clock } = world();
    for (let time = 0; time < 5; time++) expect(await remote.ownKeyOf('org_a', 'plain')).toBeUndefined();
    expect(lookUps).toHaveLength(1);
    const { key } = await save();
    expect(await remote.ownKeyOf('org_a', 'plain')).toEqual({ id: key.id, barred: false, fields: {} });
    await remote.remove('org_a', key.id, by);
    expect(await remote.ownKeyOf('org_a', 'plain')).toBeUndefined();
    clock.increment(30_000);
    await remote.ownKeyOf('org_a', 'plain');
    expect(lookUps).toHaveLength(4);
  });

  test('reports uses for the key’s organisation, and blocks a key refused too often', async () => {
    const { remote, save, calls, tables } = world();
    const { key } = await save();
    await remote.ownKeyOf('org_a', 'plain');
    remote.noteUse('pk_unknown', 'refused');
    for (let time = 0; time < 3; time++) {
      remote.noteUse(key.id, 'refused');
      await expect.poll(() => tables.findProviderKey('org_a', 'plain')?.failures).toBe(time + 1);
    }
    expect(await remote.ownKeyOf('org_a', 'plain')).toEqual({ id: key.id, barred: true, fields: {} });
    expect(calls.filter((call) => call === 'noteUse')).toHaveLength(3);
  });

  test('continues from memory without an answer: 5 min, or 30 s without revocation events', async () => {
    const { remote, save, state, clock } = world();
    const { key } = await save();
    const known = await remote.ownKeyOf('org_a', 'plain');
    const access = await remote.open('plain', key.id, 'org_a');
    state.away = true;
    clock.increment(29_999);
    state.deaf = true;
    expect(await remote.open('plain', key.id, 'org_a')).toEqual(access);
    clock.increment(1);
    for (const work of [remote.open('plain', key.id, 'org_a'), remote.ownKeyOf('org_a', 'plain')]) {
      expect(await caught(work)).toBeDefined();
    }
    state.deaf = false;
    clock.increment(269_999);
    expect([await remote.ownKeyOf('org_a', 'plain'), await remote.open('plain', key.id, 'org_a')]).toEqual([
      known,
      access,
    ]);
    clock.increment(1);
    for (const work of [remote.open('plain', key.id, 'org_a'), remote.ownKeyOf('org_a', 'plain')]) {
      expect(await caught(work)).toBeDefined();
    }
  });

  test('drops a deleted key from memory', async () => {
    const { remote, vault, save, state } = world();
    const { key } = await save();
    await remote.open('plain', key.id, 'org_a');
    await vault.remove('org_a', key.id, by);
    expect(await caught(remote.open('plain', key.id, 'org_a'))).toBeInstanceOf(VaultError);
    state.away = true;
    expect(await caught(remote.open('plain', key.id, 'org_a'))).toBeInstanceOf(VaultError);
  });

  test('refuses without an answer, and says so', async () => {
    const { remote, state, faults } = world();
    state.away = true;
    expect(await caught(remote.ownKeyOf('org_a', 'plain'))).toMatchObject({ code: 'overloaded' });
    expect(await caught(remote.open('plain', 'pk_1', 'org_a'))).toBeInstanceOf(VaultError);
    expect(faults).toEqual(['findProviderKey: Nobody answers.']);
  });
});

describe('a request of another node to the vault', () => {
  const reason = async (work: Promise<unknown>) => ((await caught(work)) as { reason?: string }).reason;

  test.each([
    ['noSuchCall', 'org_a', []],
    ['constructor', 'org_a', []],
    ['list', 'org_a', []],
    ['save', null, [{ provider: 'plain', name: 'x', fields: {} }, by]],
    ['save', 'org_a', [{ provider: 'plain' }, by]],
    ['save', 'org_a', [{ provider: 'plain', name: 'x', fields: {} }, null]],
    ['save', 'org_a', []],
    ['test', 'org_a', [7, by]],
    ['remove', 'org_a', ['pk_1', {}]],
    ['open', 'org_a', ['plain', 'pk_1']],
    ['open', 'org_a', ['plain', 'pk_1', 'text']],
    ['noteUse', 'org_a', ['pk_1', 'stolen']],
  ])('%s of %s with %j is refused', async (call, organisationId, args) => {
    const { answer, audited } = world();
    expect(await reason(answer({ organisationId, call, args }))).toBe('invalid');
    expect(audited()).toEqual([]);
  });

  test('gives no secret to an invalid public key', async () => {
    const { answer, save } = world();
    const { key } = await save();
    const given = await answer({ organisationId: 'org_a', call: 'open', args: ['plain', key.id, new Uint8Array(32)] });
    expect(given).toEqual({ failure: expect.stringContaining('no key to seal for') });
  });
});
