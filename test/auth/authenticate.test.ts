// Who is calling: each credential on each surface, what a refusal says, and what it never says.
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { Refusal } from '../../src/api/errors.ts';
import { type Authenticator, type Caller, createAuthenticator } from '../../src/auth/authenticate.ts';
import { mintToken } from '../../src/auth/token.ts';
import { generateKey, hasValidChecksum, KEY_PREFIX, parseKey } from '../../src/store/secrets.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { ApiKey } from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const secret = Buffer.from('a secret of at least thirty-two characters');

/** A store of keys in memory that counts look-ups. */
function keyStore() {
  const keys = new Map<string, ApiKey>();
  const listeners = new Set<(keyId: string) => void>();
  const hex = (hash: Uint8Array) => Buffer.from(hash).toString('hex');
  return {
    findKeyByHash: vi.fn(async (hash: Uint8Array) => keys.get(hex(hash))),
    revokedKeyIds: vi.fn(async () => [...keys.values()].filter((key) => key.revokedAt !== null).map((key) => key.id)),
    onKeyRevoked: (listener: (keyId: string) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    listeners,
    add(): { text: string; key: ApiKey } {
      const text = generateKey();
      const { hash, display } = parseKey(text)!;
      const key: ApiKey = {
        id: `key_${keys.size}`,
        organisationId: 'org_1',
        name: 'k',
        display,
        createdAt: 'now',
        revokedAt: null,
      };
      keys.set(hex(hash), key);
      return { text, key };
    },
    revoke(key: ApiKey) {
      key.revokedAt = 'now';
      for (const listener of listeners) listener(key.id);
    },
  };
}

async function begin() {
  const store = keyStore();
  const { text, key } = store.add();
  const time = { nowMs: 1_800_000_000_000 };
  const authenticator = await createAuthenticator({ store, secret, now: () => time.nowMs });
  const caller = await authenticator.rest(text);
  return { store, text, key, time, authenticator, caller, token: authenticator.mint(caller, 60).token };
}

async function refusalOf(outcome: Promise<unknown> | (() => unknown)): Promise<Refusal> {
  const error: unknown = await (typeof outcome === 'function' ? (async () => outcome())() : outcome).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Refusal);
  return error as Refusal;
}

describe('an API key', () => {
  test('names its caller on REST and on sockets', async () => {
    const { authenticator, text, key } = await begin();
    const caller: Caller = { organisationId: 'org_1', keyId: key.id, via: 'key' };
    expect(await authenticator.rest(text)).toEqual(caller);
    expect(await authenticator.socket(text)).toEqual(caller);
  });

  test('works as soon as it exists, and not a moment longer than it is good', async () => {
    const { authenticator, store } = await begin();
    const unknown = generateKey();
    expect((await refusalOf(authenticator.rest(unknown))).code).toBe('invalid_api_key');
    const { text, key } = store.add();
    expect(await authenticator.rest(text)).toMatchObject({ keyId: key.id });
    store.revoke(key);
    for (const surface of [authenticator.rest, authenticator.socket]) {
      expect((await refusalOf(surface(text))).code).toBe('key_revoked');
    }
  });

  test('is looked up each time: neither a yes nor a no is remembered', async () => {
    const { authenticator, store, text } = await begin();
    store.findKeyByHash.mockClear();
    const unknown = generateKey();
    for (let round = 0; round < 3; round++) {
      await authenticator.rest(text);
      await refusalOf(authenticator.rest(unknown));
    }
    expect(store.findKeyByHash).toHaveBeenCalledTimes(6);
  });

  test('that is mistyped is refused in the words of one that is unknown', async () => {
    const { authenticator, text } = await begin();
    const unknown = await refusalOf(authenticator.rest(generateKey()));
    const mistyped = await refusalOf(authenticator.rest(`${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`));
    expect(mistyped.body('req')).toEqual(unknown.body('req'));
    expect(mistyped.status).toBe(401);
  });

  test('with a wrong checksum never reaches the store, 100,000 times', async () => {
    const { authenticator, store } = await begin();
    store.findKeyByHash.mockClear();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    const body = generateKey().slice(KEY_PREFIX.length, -4);
    let tried = 0;
    for (let index = 0; tried < 100_000; index++) {
      const tail = [0, 1, 2, 3].map((digit) => alphabet[Math.floor(index / 62 ** digit) % 62]).join('');
      const text = KEY_PREFIX + body + tail;
      if (hasValidChecksum(text)) continue;
      tried += 1;
      await authenticator.rest(text).catch((error: Refusal) => {
        if (error.code !== 'invalid_api_key') throw error;
      });
    }
    expect(store.findKeyByHash).not.toHaveBeenCalled();
  });

  test('is not judged when the store cannot answer: the caller is asked to come back', async () => {
    const { authenticator, store, text } = await begin();
    const cause = new StoreError('overflow', 'full');
    store.findKeyByHash.mockRejectedValueOnce(cause);
    const refusal = await refusalOf(authenticator.rest(text));
    expect(refusal).toMatchObject({ code: 'overloaded', status: 503, extras: { retryAfterSeconds: 1 }, cause });
    store.findKeyByHash.mockRejectedValueOnce(new TypeError('a fault'));
    await expect(authenticator.rest(text)).rejects.toBeInstanceOf(TypeError);
    expect(await authenticator.rest(text)).toMatchObject({ via: 'key' });
  });
});

describe('a client token', () => {
  test('names its parent key as the caller, on sockets, without a look-up', async () => {
    const { authenticator, store, token, key } = await begin();
    store.findKeyByHash.mockClear();
    expect(await authenticator.socket(token)).toEqual({
      organisationId: 'org_1',
      keyId: key.id,
      via: 'token',
      tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(store.findKeyByHash).not.toHaveBeenCalled();
  });

  test.each([10, 60, 300])(
    'of %d seconds is good until the millisecond it says, and then it is not',
    async (ttlSeconds) => {
      const { authenticator, caller, time } = await begin();
      const minted = authenticator.mint(caller, ttlSeconds);
      expect(minted).toEqual({
        token: expect.stringMatching(/^st_/),
        expires_at: new Date(time.nowMs + ttlSeconds * 1000).toISOString(),
        ttl_seconds: ttlSeconds,
      });
      time.nowMs = Date.parse(minted.expires_at) - 1;
      expect(await authenticator.socket(minted.token)).toMatchObject({ via: 'token' });
      time.nowMs += 1;
      expect((await refusalOf(authenticator.socket(minted.token))).code).toBe('token_expired');
    },
  );

  test.each([9, 301, 0, -1, 60.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'of %d seconds is not minted',
    async (ttlSeconds) => {
      const { authenticator, caller } = await begin();
      const refusal = await refusalOf(() => authenticator.mint(caller, ttlSeconds));
      expect(refusal).toMatchObject({ code: 'invalid_request', extras: { param: 'ttl_seconds' } });
    },
  );

  test('is not allowed on REST and mints nothing, good or bad', async () => {
    const { authenticator, token } = await begin();
    for (const text of [token, `${token}x`, 'st_', 'st_nonsense']) {
      expect(await refusalOf(authenticator.rest(text))).toMatchObject({ code: 'token_not_allowed', status: 403 });
    }
    const caller = await authenticator.socket(token);
    expect(await refusalOf(() => authenticator.mint(caller, 60))).toMatchObject({ code: 'token_not_allowed' });
  });

  test('dies with its parent key at once, and stays dead after a new start', async () => {
    const { authenticator, store, key, token, time } = await begin();
    store.revoke(key);
    expect((await refusalOf(authenticator.socket(token))).code).toBe('key_revoked');
    const again = await createAuthenticator({ store, secret, now: () => time.nowMs });
    expect((await refusalOf(again.socket(token))).code).toBe('key_revoked');
  });

  test('whose parent is revoked while the authenticator starts is refused too', async () => {
    const { store, key, token, time } = await begin();
    store.revokedKeyIds.mockImplementationOnce(async () => {
      store.revoke(key);
      return [];
    });
    const starting = await createAuthenticator({ store, secret, now: () => time.nowMs });
    expect((await refusalOf(starting.socket(token))).code).toBe('key_revoked');
  });

  test('minted on one node is good on every node with the secret, and on no other', async () => {
    const { store, token, time } = await begin();
    const node = (key: Uint8Array) => createAuthenticator({ store, secret: key, now: () => time.nowMs });
    expect(await (await node(Buffer.from(secret))).socket(token)).toMatchObject({ via: 'token' });
    expect((await refusalOf((await node(Buffer.from(secret).reverse())).socket(token))).code).toBe('invalid_token');
  });

  test('that is malformed is told from one that expired', async () => {
    const { authenticator, token, time } = await begin();
    time.nowMs += 3_600_000;
    expect((await refusalOf(authenticator.socket(token))).code).toBe('token_expired');
    expect((await refusalOf(authenticator.socket(`${token}x`))).code).toBe('invalid_token');
  });
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
  const { authenticator, store } = await begin();
  store.findKeyByHash.mockClear();
  for (const surface of [authenticator.rest, authenticator.socket]) {
    expect(await refusalOf(surface(credential))).toMatchObject({ code, status: 401 });
  }
  expect(store.findKeyByHash).not.toHaveBeenCalled();
});

test('whatever is sent is answered with a refusal from the catalogue', async () => {
  const { authenticator, token, text } = await begin();
  const near = fc.constantFrom(token, text, 'st_', 'sk_vox_').chain((start) => fc.string().map((rest) => start + rest));
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), near), async (credential) => {
      fc.pre(credential !== token && credential !== text);
      for (const surface of [authenticator.rest, authenticator.socket]) await refusalOf(surface(credential));
    }),
  );
});

test('no refusal carries any part of a credential', async () => {
  const { authenticator, store, text, key, token, time } = await begin();
  const { text: revokedText, key: revokedKey } = store.add();
  const orphan = authenticator.mint(await authenticator.rest(revokedText), 60).token;
  store.revoke(revokedKey);
  const unknown = generateKey();
  const forged = mintToken(Buffer.from('x'.repeat(32)), { v: 1, jti: 'j', key: key.id, org: 'o', iat: 1, exp: 2 });
  const tried = [unknown, `${text}x`, text.slice(0, -1), revokedText, orphan, forged, `${token}x`, 'canary-credential'];
  time.nowMs += 60_000;
  const refusals = await Promise.all(
    [...tried, token].flatMap((credential) =>
      [authenticator.rest, authenticator.socket].map((surface) => refusalOf(surface(credential))),
    ),
  );
  store.findKeyByHash.mockRejectedValueOnce(new StoreError('failed', 'disk'));
  refusals.push(await refusalOf(authenticator.rest(text)));
  const shown = refusals
    .map((refusal) => inspect(refusal, { depth: 9 }) + JSON.stringify(refusal.body('req_1')))
    .join('\n');
  for (const credential of [...tried, token, text]) {
    expect(shown).not.toContain(credential);
    expect(shown).not.toContain(credential.slice(7, 25));
    expect(shown).not.toContain(credential.slice(-12));
  }
});

test('an authenticator that cannot learn which keys are revoked does not start, and leaves no listener', async () => {
  const store = keyStore();
  store.revokedKeyIds.mockRejectedValueOnce(new StoreError('failed', 'disk'));
  await expect(createAuthenticator({ store, secret, now: Date.now })).rejects.toThrow('disk');
  expect(store.listeners.size).toBe(0);
});

test('a closed authenticator no longer listens to the store', async () => {
  const { authenticator, store } = await begin();
  expect(store.listeners.size).toBe(1);
  authenticator.close();
  expect(store.listeners.size).toBe(0);
});

test('on the real store, keys and tokens die on one node when another revokes the key', async () => {
  const directory = temporaryDirectory();
  const [here, there] = await Promise.all([openSqliteStore({ directory }), openSqliteStore({ directory })]);
  const first = (await there.bootstrap())!;
  const authenticator: Authenticator = await createAuthenticator({ store: here, secret, now: Date.now });
  const { token } = authenticator.mint(await authenticator.rest(first.secret), 60);
  expect(await authenticator.socket(token)).toMatchObject({
    keyId: first.key.id,
    organisationId: first.organisation.id,
  });
  const heard = new Promise((resolve) => here.onKeyRevoked(resolve));
  await there.revokeKey(first.key.id);
  await heard;
  expect((await refusalOf(authenticator.socket(token))).code).toBe('key_revoked');
  expect((await refusalOf(authenticator.rest(first.secret))).code).toBe('key_revoked');
  await Promise.all([here.close(), there.close()]);
});
