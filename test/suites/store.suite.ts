// The promises of src/node/store/store.ts, held once; every implementation's test calls this.
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { hasValidChecksum, parseKey } from '../../src/accounts/keys/key-text.ts';
import type { Store } from '../../src/node/store/store.ts';
import { OPERATOR } from '../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** @param open opens the store of a directory; several may be open on one */
export function storeSuite(name: string, open: (directory: string) => Promise<Store>): void {
  const opened: Store[] = [];
  const openIn = async (directory: string) => {
    const store = await open(directory);
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });

  /** A store with its first organisation and key, and its directory. */
  async function begin() {
    const directory = temporaryDirectory();
    const store = await openIn(directory);
    const first = (await store.bootstrap())!;
    return { directory, store, first, organisationId: first.organisation.id };
  }

  const find = (store: Store, secret: string) => store.findKeyByHash(parseKey(secret)!.hash);

  describe(`${name}: organisations and keys`, () => {
    test('creates the first organisation and key once, and shows the key only then', async () => {
      const { store, first, organisationId } = await begin();
      expect(organisationId).toMatch(/^org_[0-9a-f-]{36}$/);
      expect(first.key).toMatchObject({
        id: expect.stringMatching(/^key_[0-9a-f-]{36}$/),
        organisationId,
        name: expect.any(String),
        display: `${first.secret.slice(0, 11)}...${first.secret.slice(-4)}`,
        createdAt: expect.stringMatching(UTC),
        revokedAt: null,
      });
      expect(hasValidChecksum(first.secret)).toBe(true);
      expect(await store.bootstrap()).toBeUndefined();
      expect(await store.listOrganisations()).toEqual([first.organisation]);
      const kept = inspect([await store.listKeys(), await find(store, first.secret)]);
      expect(kept).not.toContain(first.secret.slice(11, -4));
    });

    test('finds a key by its text’s hash, revoked or not, and by no other text', async () => {
      const { store, organisationId } = await begin();
      const { key, secret } = await store.createKey(organisationId, { name: 'worker' }, OPERATOR);
      expect(await find(store, secret)).toEqual(key);
      const revoked = await store.revokeKey(null, key.id, OPERATOR);
      expect(await find(store, secret)).toEqual(revoked);
      expect(await store.findKeyByHash(new Uint8Array(32))).toBeUndefined();
      expect(await store.findKeyByHash(new Uint8Array(0))).toBeUndefined();
    });

    test('keys are listed in the order in which they were made, of one organisation or of all', async () => {
      const { store, first, organisationId } = await begin();
      const made = await Promise.all(
        ['a', 'b', 'ü 漢 🎤'].map((each) => store.createKey(organisationId, { name: each }, OPERATOR)),
      );
      const expected = [first.key, ...made.map(({ key }) => key)];
      expect(await store.listKeys()).toEqual(expected);
      expect(await store.listKeys(organisationId)).toEqual(expected);
      expect(await store.listKeys('org_unknown')).toEqual([]);
    });

    test('changes nothing when it rejects a call', async () => {
      const { store, organisationId } = await begin();
      const before = await store.listKeys();
      await expect(store.createKey('org_unknown', { name: 'x' }, OPERATOR)).rejects.toMatchObject({
        reason: 'not_found',
      });
      for (const bad of ['', 'x'.repeat(101), 'line\nbreak', 'null\0', '\u001b[31m']) {
        await expect(store.createKey(organisationId, { name: bad }, OPERATOR)).rejects.toMatchObject({
          reason: 'invalid',
        });
      }
      expect(await store.listKeys()).toEqual(before);
    });

    test('calls are applied in the order in which they were made, without waiting for each other', async () => {
      const { store, first } = await begin();
      const [before, revoked, after, ids] = await Promise.all([
        store.listKeys(),
        store.revokeKey(null, first.key.id, OPERATOR),
        store.listKeys(),
        store.revokedKeyIds(),
      ]);
      expect(before[0]!.revokedAt).toBeNull();
      expect(after[0]).toEqual(revoked);
      expect(ids).toEqual([first.key.id]);
    });
  });

  describe(`${name}: settings`, () => {
    test('money, limits and lists come back as they were given', async () => {
      const { store, organisationId } = await begin();
      const settings = {
        name: 'limited',
        expiresAt: '2100-01-01T00:00:00.000Z',
        scopes: ['listen'] as const,
        models: ['deepgram/*'],
        origins: ['https://app.example.com'],
        requestsPerMinuteMax: 5,
        sessionsMax: null,
        tokensPerMinuteMax: 7,
        dailySpendMicroUsdMax: 2n ** 63n - 1n,
      };
      const { key } = await store.createKey(organisationId, settings, OPERATOR);
      expect(key).toMatchObject(settings);
      expect(await store.findKey(null, key.id)).toEqual(key);
      expect(await store.setCreditLimit(organisationId, 2n ** 60n + 1n, OPERATOR)).toEqual(
        await store.findOrganisation(organisationId),
      );
      expect((await store.findOrganisation(organisationId))!.creditLimitMicroUsd).toBe(2n ** 60n + 1n);
    });

    test('rejects a call with invalid data, and continues', async () => {
      const { store, organisationId } = await begin();
      const name = (() => 'x') as unknown as string;
      await expect(store.createKey(organisationId, { name }, OPERATOR)).rejects.toMatchObject({ reason: 'invalid' });
      expect(await store.listKeys()).toHaveLength(1);
    });

    test('reports a rolled key as revoked, unless it has a grace period', async () => {
      const { store, first, organisationId } = await begin();
      const heard: string[] = [];
      store.onKeyRevoked((id) => heard.push(id));
      const rolled = (await store.rollKey(organisationId, first.key.id, 1000, OPERATOR))!;
      expect(heard).toEqual([]);
      expect(await find(store, first.secret)).toEqual(rolled.old);
      await store.rollKey(organisationId, rolled.key.id, 0, OPERATOR);
      expect(heard).toEqual([rolled.key.id]);
    });
  });

  describe(`${name}: revocation`, () => {
    test('keeps the first time of a revocation, and reports an unknown key', async () => {
      const { store, first } = await begin();
      const revoked = await store.revokeKey(null, first.key.id, OPERATOR);
      expect(revoked).toEqual({ ...first.key, revokedAt: expect.stringMatching(UTC) });
      expect(await store.revokeKey(null, first.key.id, OPERATOR)).toEqual(revoked);
      expect(await store.revokeKey(null, 'key_unknown', OPERATOR)).toBeUndefined();
      expect(await store.revokedKeyIds()).toEqual([first.key.id]);
    });

    test('listeners hear of each revocation once, before it is answered, until they leave', async () => {
      const { store, organisationId } = await begin();
      const keys = await Promise.all(
        ['a', 'b', 'c'].map((each) => store.createKey(organisationId, { name: each }, OPERATOR)),
      );
      const [a, b, c] = keys.map(({ key }) => key.id) as [string, string, string];
      const heard: string[] = [];
      const leave = store.onKeyRevoked((id) => heard.push(id));
      await store.revokeKey(null, a, OPERATOR);
      expect(heard).toEqual([a]);
      await store.revokeKey(null, a, OPERATOR);
      await store.revokeKey(null, b, OPERATOR);
      expect(heard).toEqual([a, b]);
      leave();
      leave();
      await store.revokeKey(null, c, OPERATOR);
      expect(heard).toEqual([a, b]);
    });

    test('calls a listener twice when added twice, and removes it once per call', async () => {
      const { store, organisationId, first } = await begin();
      const { key } = await store.createKey(organisationId, { name: 'second' }, OPERATOR);
      const heard: string[] = [];
      const listener = (id: string) => heard.push(id);
      const leave = store.onKeyRevoked(listener);
      store.onKeyRevoked(listener);
      await store.revokeKey(null, first.key.id, OPERATOR);
      leave();
      await store.revokeKey(null, key.id, OPERATOR);
      expect(heard).toEqual([first.key.id, first.key.id, key.id]);
    });

    test('reports every revocation by another store on the same directory, without calls', async () => {
      const { store, directory, organisationId } = await begin();
      const other = await openIn(directory);
      const keys = await Promise.all(
        Array.from({ length: 20 }, (_, each) => store.createKey(organisationId, { name: `${each}` }, OPERATOR)),
      );
      for (const { key } of keys) {
        const heard = new Promise<string>((resolve) => {
          const leave = store.onKeyRevoked((id) => {
            leave();
            resolve(id);
          });
        });
        await other.revokeKey(null, key.id, OPERATOR);
        expect(await heard).toBe(key.id);
      }
    });
  });

  describe(`${name}: several stores on one directory`, () => {
    test('only one of those that start at once makes the first organisation', async () => {
      // Several times: processes that open at once seldom meet at the lock which nothing waits for.
      for (let round = 0; round < 2; round++) {
        const directory = temporaryDirectory();
        const stores = await Promise.all(Array.from({ length: 6 }, () => openIn(directory)));
        const results = await Promise.all(stores.map((store) => store.bootstrap()));
        expect(results.filter((result) => result !== undefined)).toHaveLength(1);
        for (const store of stores) expect(await store.listKeys()).toHaveLength(1);
      }
    });

    test('reads in each what another has written', async () => {
      const { store, directory, organisationId } = await begin();
      const other = await openIn(directory);
      const { key, secret } = await store.createKey(organisationId, { name: 'shared' }, OPERATOR);
      expect(await find(other, secret)).toEqual(key);
      await other.revokeKey(null, key.id, OPERATOR);
      expect((await find(store, secret))!.revokedAt).toMatch(UTC);
    });
  });

  describe(`${name}: closing`, () => {
    test('keeps its data after closing and opening again', async () => {
      const { store, directory, organisationId } = await begin();
      const { key, secret } = await store.createKey(organisationId, { name: 'kept' }, OPERATOR);
      await store.revokeKey(null, key.id, OPERATOR);
      const before = await store.listKeys();
      await store.close();
      const again = await openIn(directory);
      expect(await again.listKeys()).toEqual(before);
      expect(await find(again, secret)).toMatchObject({ id: key.id, revokedAt: expect.stringMatching(UTC) });
      expect(await again.revokedKeyIds()).toEqual([key.id]);
      expect(await again.bootstrap()).toBeUndefined();
    });

    test('calls made before closing are answered, later ones rejected, and closing twice is fine', async () => {
      const { store, organisationId } = await begin();
      const before = store.createKey(organisationId, { name: 'just in time' }, OPERATOR);
      const closed = Promise.all([store.close(), store.close()]);
      const after = expect(store.listKeys()).rejects.toMatchObject({ reason: 'closed' });
      expect((await before).key.name).toBe('just in time');
      await after;
      await closed;
      await store.close();
      await expect(store.listKeys()).rejects.toMatchObject({ reason: 'closed' });
    });
  });
}
