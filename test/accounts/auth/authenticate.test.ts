// Who is calling: each credential on each surface, what a refusal says, and what it never says.
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAuthenticator } from '../../../src/accounts/auth/authenticate.ts';
import { mintToken, tokenSecret } from '../../../src/accounts/auth/token.ts';
import { generateKey } from '../../../src/accounts/keys/key-text.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { ADDRESS, apiErrorOf, begin, freshAddress, lookUps, secret, start, surfaces } from './authenticator-fixture.ts';

const origins = ['https://app.example.com'];

describe('an API key', () => {
  test('names its caller on REST and on sockets', async () => {
    const { authenticator, text, key } = await begin();
    const caller = { organisationId: 'org_1', keyId: key.id, key, via: 'key' };
    expect(await authenticator.rest(text, ADDRESS)).toEqual(caller);
    expect(await authenticator.socket(text, ADDRESS, undefined)).toEqual(caller);
  });

  test('costs one look-up in 30 s for any number of uses, on both surfaces', async () => {
    const { authenticator, store, text, wait } = await begin();
    for (let use = 0; use < 100; use++) {
      await authenticator.rest(text, ADDRESS);
      await authenticator.socket(text, ADDRESS, undefined);
    }
    expect(lookUps(store)).toBe(1);
    wait(30_000);
    await authenticator.rest(text, ADDRESS);
    expect(lookUps(store)).toBe(2);
  });

  test('fails as soon as its revocation is reported, by the store or another node', async () => {
    for (const how of ['store', 'bus'] as const) {
      const { authenticator, store, text, key, token } = await begin();
      if (how === 'store') store.revoke(key);
      else {
        store.revokeSilently(key);
        authenticator.revoked(key.id);
      }
      for (const surface of surfaces(authenticator)) expect((await apiErrorOf(surface(text))).code).toBe('key_revoked');
      expect((await apiErrorOf(authenticator.socket(token, ADDRESS, undefined))).code).toBe('key_revoked');
      expect([authenticator.isRevoked(key.id), authenticator.isRevoked('key_2')]).toEqual([true, false]);
    }
  });

  test.each<[string, (begun: Awaited<ReturnType<typeof begin>>) => unknown]>([
    ['was revoked', ({ store, key }) => store.revoke(key)],
    [
      'lost the scope',
      ({ store, key, authenticator }) => {
        store.change(key, { scopes: ['transcribe'] });
        authenticator.evict(key.id);
      },
    ],
    [
      'was suspended with its organisation',
      ({ store, key, authenticator }) => {
        store.change(key, { suspended: true });
        authenticator.evictOrganisation(key.organisationId);
      },
    ],
    ['has expired', ({ wait }) => wait(60_000)],
  ])('holds for who uses it for long, until it %s', async (_why, happens) => {
    const begun = await begin({ expiresAt: new Date(1_800_000_060_000).toISOString() });
    const { authenticator, caller, store, wait } = begun;
    wait(31_000);
    store.findKey.mockRejectedValueOnce(new StoreError('busy', 'later'));
    for (let count = 0; count < 2; count++) expect(await authenticator.holds(caller, 'listen')).toBe(true);
    await happens(begun);
    expect(await authenticator.holds(caller, 'listen')).toBe(false);
  });

  test('follows its current permissions for later requests, and the old ones without the store', async () => {
    const { authenticator, caller, store, key, wait } = await begin();
    store.change(key, { models: ['loopback/script'] });
    wait(31_000);
    store.findKey.mockRejectedValueOnce(new StoreError('busy', 'later'));
    expect((await authenticator.renewed(caller)).key.models).toBeNull();
    expect((await authenticator.renewed(caller)).key.models).toEqual(['loopback/script']);
  });

  test('works again with the ledger’s next answer when it was never revoked', async () => {
    const { authenticator, text, key, token } = await begin();
    authenticator.revoked(key.id);
    for (const surface of surfaces(authenticator)) await surface(text);
    await authenticator.socket(token, ADDRESS, undefined);
    expect(authenticator.isRevoked(key.id)).toBe(false);
  });

  test('fails 30 s after an unreported revocation', async () => {
    const { authenticator, store, text, key, token, wait } = await begin();
    store.revokeSilently(key);
    wait(29_999);
    await authenticator.rest(text, ADDRESS);
    await authenticator.socket(token, ADDRESS, undefined);
    wait(1);
    expect((await apiErrorOf(authenticator.rest(text, ADDRESS))).code).toBe('key_revoked');
    expect((await apiErrorOf(authenticator.socket(token, ADDRESS, undefined))).code).toBe('key_revoked');
  });

  test('revoked while the store is answering is refused, although the answer does not know of it', async () => {
    const { authenticator, store, text, key, wait } = await begin();
    wait(30_000);
    store.findKeyByHash.mockImplementationOnce(async () => {
      store.revoke(key);
      return key;
    });
    expect((await apiErrorOf(authenticator.rest(text, ADDRESS))).code).toBe('key_revoked');
    expect((await apiErrorOf(authenticator.rest(text, ADDRESS))).code).toBe('key_revoked');
  });

  test('expires and ends its grace to the millisecond, remembered or not', async () => {
    for (const member of ['expiresAt', 'graceUntil'] as const) {
      const { store, authenticator, now, wait } = start();
      const { text } = store.add({ rolledTo: 'key_9', [member]: new Date(now() + 10_000).toISOString() });
      await authenticator.rest(text, ADDRESS);
      wait(9_999);
      await authenticator.rest(text, ADDRESS);
      wait(1);
      expect(await apiErrorOf(authenticator.rest(text, ADDRESS))).toMatchObject({ code: 'key_expired', status: 401 });
    }
  });

  test('fails for a suspended organisation, without blaming the address', async () => {
    const { store, authenticator } = start();
    const { text } = store.add({ suspended: true });
    for (let round = 0; round < 50; round++) {
      expect((await apiErrorOf(authenticator.rest(text, ADDRESS))).code).toBe('account_suspended');
    }
  });

  test('follows its new settings as soon as it is evicted', async () => {
    const { authenticator, store, text, key } = await begin();
    store.change(key, { scopes: ['transcribe'] });
    await authenticator.socket(text, ADDRESS, undefined);
    authenticator.evict(key.id);
    expect((await apiErrorOf(authenticator.socket(text, ADDRESS, undefined))).code).toBe('scope_not_allowed');
    expect(authenticator.isRevoked(key.id)).toBe(false);
  });

  test('opens no socket without the scope `listen`, and REST continues', async () => {
    const { authenticator, text } = await begin({ scopes: ['transcribe', 'tokens'] });
    const refusal = await apiErrorOf(authenticator.socket(text, ADDRESS, undefined));
    expect(refusal).toMatchObject({ code: 'scope_not_allowed', status: 403 });
    expect(refusal.message).toContain('`listen`');
  });

  test('fails from other pages with a list of origins, on both surfaces', async () => {
    const { authenticator, text } = await begin({ origins });
    const [good, bad] = [origins[0]!, 'https://evil.example'];
    await authenticator.rest(text, ADDRESS, good);
    await authenticator.socket(text, ADDRESS, good);
    await authenticator.socket(text, ADDRESS, undefined);
    expect((await apiErrorOf(authenticator.rest(text, ADDRESS, bad))).code).toBe('origin_not_allowed');
    expect((await apiErrorOf(authenticator.socket(text, ADDRESS, bad))).code).toBe('origin_not_allowed');
  });

  test('leads to a retry, without blame, when the store cannot answer', async () => {
    const { store, authenticator } = start();
    const { text } = store.add();
    const cause = new StoreError('overflow', 'full');
    for (let round = 0; round < 50; round++) {
      store.findKeyByHash.mockRejectedValueOnce(cause);
      const refusal = await apiErrorOf(authenticator.rest(text, ADDRESS));
      expect(refusal).toMatchObject({ code: 'overloaded', status: 503, extras: { retryAfterSeconds: 1 }, cause });
    }
    store.findKeyByHash.mockRejectedValueOnce(new TypeError('a fault'));
    await expect(authenticator.rest(text, ADDRESS)).rejects.toBeInstanceOf(TypeError);
    expect(await authenticator.rest(text, ADDRESS)).toMatchObject({ via: 'key' });
  });

  test('known for less than 5 minutes works on while the store is busy, and so do its tokens', async () => {
    const { authenticator, store, text, caller, wait } = await begin();
    const { token } = authenticator.mint(caller, 300);
    const busy = async () => {
      throw new StoreError('busy', 'no');
    };
    store.findKeyByHash.mockImplementation(busy);
    store.findKey.mockImplementation(busy);
    wait(299_999);
    await authenticator.rest(text, ADDRESS);
    await authenticator.socket(token, ADDRESS, undefined);
    wait(1);
    expect((await apiErrorOf(authenticator.rest(text, ADDRESS))).code).toBe('overloaded');
  });
});

test('records accepted callers once a minute and at the close, and no others', async () => {
  const { authenticator, store, text, key, token, now, wait } = await begin();
  await apiErrorOf(authenticator.rest(generateKey(), ADDRESS));
  wait(59_000);
  await authenticator.socket(token, ADDRESS, undefined);
  const usedMs = now();
  wait(1_000);
  expect(store.noteKeysUsed.mock.calls).toEqual([[key.organisationId, [{ keyId: key.id, atMs: usedMs, tokens: 1 }]]]);
  await authenticator.rest(text, ADDRESS);
  await authenticator.close();
  expect(store.noteKeysUsed).toHaveBeenCalledTimes(2);
});

test.each([
  ['no credential', undefined, 'missing_credential'],
  ['an empty credential', '', 'missing_credential'],
  ['a key of another service', 'sk-proj-abcdefghijklmnop', 'invalid_api_key'],
  ['a word', 'hello', 'invalid_api_key'],
  ['a key with a space before it', ` ${generateKey()}`, 'invalid_api_key'],
  ['a key with a line break after it', `${generateKey()}\n`, 'invalid_api_key'],
  ['a key with a null character', `${generateKey()}\0`, 'invalid_api_key'],
  ['a mebibyte', 'sk_vox_'.repeat(150_000), 'invalid_api_key'],
])('%s is refused on both surfaces alike, without a look-up', async (_, credential, code) => {
  const { authenticator, store } = start();
  for (const surface of surfaces(authenticator)) {
    expect(await apiErrorOf(surface(credential))).toMatchObject({ code, status: 401 });
  }
  expect(lookUps(store)).toBe(0);
});

test('answers any input with an error of the catalogue', async () => {
  const { authenticator, token, text } = await begin();
  const near = fc.constantFrom(token, text, 'st_', 'sk_vox_').chain((head) => fc.string().map((rest) => head + rest));
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), near), async (credential) => {
      fc.pre(credential !== token && credential !== text);
      for (const surface of surfaces(authenticator)) await apiErrorOf(surface(credential));
    }),
    { seed: 7 },
  );
});

test('keeps every part of a credential out of its errors', async () => {
  const { authenticator, store, text, key, token, wait } = await begin({ origins });
  const { text: revokedText, key: revokedKey } = store.add();
  const orphan = authenticator.mint(await authenticator.rest(revokedText, ADDRESS), 60).token;
  store.revoke(revokedKey);
  const [unknown, rare] = [generateKey(), generateKey()];
  const forged = mintToken(tokenSecret(Buffer.from('x'.repeat(32))), {
    jti: 'j',
    key: key.id,
    org: 'o',
    iat: 1,
    exp: 2,
  });
  const tried = [
    unknown,
    `${text}x`,
    text.slice(0, -1),
    revokedText,
    orphan,
    forged,
    `${token}x`,
    'canary-q8Zt4LmXw2Rv',
  ];
  const refusals = [await apiErrorOf(authenticator.rest(text, freshAddress(), 'https://evil.example'))];
  wait(60_000);
  for (const credential of [...tried, token]) {
    for (const surface of surfaces(authenticator)) refusals.push(await apiErrorOf(surface(credential)));
  }
  store.findKeyByHash.mockRejectedValueOnce(new StoreError('failed', 'disk'));
  refusals.push(await apiErrorOf(authenticator.rest(rare, freshAddress())));
  const shown = refusals
    .map((refusal) => inspect(refusal, { depth: 9 }) + JSON.stringify(refusal.body('req_1')))
    .join('\n');
  for (const credential of [...tried, token, text, rare]) {
    expect(shown).not.toContain(credential);
    expect(shown).not.toContain(credential.slice(7, 25));
    expect(shown).not.toContain(credential.slice(-12));
  }
});

test('stops listening to the store once closed', async () => {
  const { authenticator, store } = start();
  expect(store.listeners.size).toBe(1);
  await authenticator.close();
  expect(store.listeners.size).toBe(0);
});

test('drops keys and tokens on one node when another revokes the key in the real store', async () => {
  const directory = temporaryDirectory();
  const [here, there] = await Promise.all([openSqliteStore({ directory }), openSqliteStore({ directory })]);
  const first = (await there.bootstrap())!;
  const authenticator = createAuthenticator({ store: here, secret, now: Date.now });
  const { token } = authenticator.mint(await authenticator.rest(first.secret, ADDRESS), 60);
  const opened = await authenticator.socket(token, ADDRESS, undefined);
  expect(opened).toMatchObject({ keyId: first.key.id, organisationId: first.organisation.id });
  const heard = new Promise((resolve) => here.onKeyRevoked(resolve));
  await there.revokeKey(null, first.key.id, { type: 'operator', id: 'test' });
  await heard;
  expect((await apiErrorOf(authenticator.socket(token, ADDRESS, undefined))).code).toBe('key_revoked');
  expect((await apiErrorOf(authenticator.rest(first.secret, ADDRESS))).code).toBe('key_revoked');
  await authenticator.close();
  await Promise.all([here.close(), there.close()]);
});
