// The keys of the vault: made once and private, or configured; the wrong one is refused at the start; rotation moves all or none.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { keyRingOf, loadKeyRing, open, seal, VaultError } from '../../../src/accounts/vault/key-ring.ts';
import { rotateVault } from '../../../src/accounts/vault/vault.ts';
import { SecretError } from '../../../src/store/private-file.ts';
import { openVaultStore } from '../../fakes/store/vault-store.ts';

const by = { type: 'operator', id: 'someone' } as const;
const [A, B] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64url')];
const keyOf = (text: string) => Buffer.from(text, 'base64');

function world() {
  const vault = openVaultStore();
  const load = (current?: string, previous?: string) =>
    loadKeyRing({ store: vault.store, current, previous, directory: vault.directory });
  const save = async (ring: Awaited<ReturnType<typeof load>>, provider: string) => {
    const binding = { id: `pk_${provider}`, organisationId: 'org_a', provider };
    const sealed = seal(ring, binding, `secret of ${provider}`);
    await vault.store.saveProviderKey(
      { ...binding, name: provider, sealed, lastFour: '', fields: {}, check: 'accepted' },
      by,
    );
  };
  return { ...vault, load, save, file: join(vault.directory, 'vault-key') };
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (each: unknown) => each,
  );
  expect(error instanceof VaultError || error instanceof SecretError).toBe(true);
  const { message } = error as Error;
  expect(message).toMatch(/^[^\n]+\.$/);
  for (const secret of [A, B, keyOf(A).toString('hex')]) expect(message).not.toContain(secret);
  return message;
}

describe('a key ring without a configured key', () => {
  test('creates one for this user alone, and reuses it from then on', async () => {
    const { load, file } = world();
    const ring = await load();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(keyOf(readFileSync(file, 'utf8'))).toEqual(Buffer.from(ring.current.key));
    expect((await load()).current.id).toBe(ring.current.id);
  });

  test('refuses to replace a lost key file, because sealed keys would be lost', async () => {
    const { load, file } = world();
    await load();
    rmSync(file);
    expect(await refusal(load())).toMatch(/^The key of the vault ".*vault-key" is missing: restore it/);
    expect(existsSync(file)).toBe(false);
  });

  // Windows has no such modes.
  test.skipIf(process.platform === 'win32')('refuses a key file that others may read', async () => {
    const { load, file } = world();
    await load();
    chmodSync(file, 0o644);
    expect(await refusal(load())).toContain('run `chmod 600` on it.');
  });

  test.each(['', 'short', `${A}${A}`, randomBytes(16).toString('base64')])(
    'refuses a key file with %j',
    async (text) => {
      const { load, file } = world();
      writeFileSync(file, text, { mode: 0o600 });
      expect(await refusal(load())).toContain('is not 32 bytes in base64');
    },
  );
});

describe('the canary', () => {
  test('accepts its key, also as the previous one, and adds no file to a configured key', async () => {
    const { load, file } = world();
    await load(A);
    expect((await load(A)).previous).toBeUndefined();
    expect((await load(B, A)).previous?.id).toBe((await load(A)).current.id);
    expect(existsSync(file)).toBe(false);
  });

  test('rejects another key, and a vault without any key', async () => {
    const { load } = world();
    await load(A);
    expect(await refusal(load(B))).toMatch(/^The vault was made with the key 72cd6e84, and the configured one is /);
    expect(await refusal(load(B, B))).toContain('72cd6e84');
    expect(await refusal(load())).toContain('is missing');
  });

  test('does not suffice: a provider key under a missing key prevents the start as well', async () => {
    const { load, save } = world();
    await load(A);
    await save(await load(B, A), 'deepgram');
    expect(await refusal(load(A))).toMatch(
      /^The vault holds 1 provider keys under the key [0-9a-f]{8}, which is not here/,
    );
  });
});

describe('a rotation', () => {
  const moving = async () => {
    const made = world();
    const old = await made.load(A);
    await made.save(old, 'deepgram');
    await made.save(old, 'openai');
    const ring = await made.load(B, A);
    await made.save(ring, 'assemblyai');
    return { ...made, ring };
  };

  test('moves what is under the old key, so that the old key is needed no more', async () => {
    const { store, ring, load } = await moving();
    expect(await rotateVault(store, ring, by, false)).toEqual({ moved: 2, current: 1 });
    const alone = await load(B);
    const rows = await store.listSealedProviderKeys();
    expect(rows.map((row) => open(alone, row, row.sealed))).toEqual([
      'secret of deepgram',
      'secret of openai',
      'secret of assemblyai',
    ]);
    expect(await refusal(load(A))).toContain('The vault was made with the key');
    expect(await rotateVault(store, alone, by, false)).toEqual({ moved: 0, current: 3 });
  });

  test('only counts when it is a rehearsal', async () => {
    const { store, ring, audited } = await moving();
    const before = [await store.listSealedProviderKeys(), await store.vaultCanary(), audited()];
    expect(await rotateVault(store, ring, by, true)).toEqual({ moved: 2, current: 1 });
    expect([await store.listSealedProviderKeys(), await store.vaultCanary(), audited()]).toEqual(before);
  });

  test.each([true, false])(
    'stops at a key that does not open, and has changed nothing (rehearsal: %s)',
    async (dryRun) => {
      const { store, ring, database, audited } = await moving();
      const broken = seal(keyRingOf(keyOf(A)), { organisationId: 'org_b', provider: 'openai', id: 'pk_openai' }, 'x');
      database.prepare("UPDATE provider_keys SET sealed = ? WHERE id = 'pk_openai'").run(broken);
      const before = [await store.listSealedProviderKeys(), await store.vaultCanary(), audited()];
      expect(await refusal(rotateVault(store, ring, by, dryRun))).toMatch(
        /^Nothing was changed: pk_openai under the key 72cd6e84 does not open\./,
      );
      expect([await store.listSealedProviderKeys(), await store.vaultCanary(), audited()]).toEqual(before);
    },
  );

  test('changes nothing when another process makes a change meanwhile', async () => {
    const { store, ring, save, load } = await moving();
    const meanwhile = {
      ...store,
      resealVault: async (...args: Parameters<typeof store.resealVault>) => {
        await save(await load(A, B), 'openai');
        return store.resealVault(...args);
      },
    };
    await expect(rotateVault(meanwhile, ring, by, false)).rejects.toThrow('pk_openai was changed meanwhile.');
    expect((await store.countSealedBy()).map(({ keys }) => keys).sort()).toEqual([1, 2]);
  });
});
