// Client tokens: accepted as long as they live, as long as their key is good, and for nothing else.
import { describe, expect, test } from 'vitest';
import { createAuthenticator } from '../../../src/accounts/auth/authenticate.ts';
import { mintToken, tokenSecret } from '../../../src/accounts/auth/token.ts';
import { ADDRESS, apiErrorOf, begin, freshAddress, lookUps, secret, start } from './authenticator-fixture.ts';

const origins = ['https://app.example.com'];
const otherSecret = Buffer.from(secret).reverse();

describe('a client token', () => {
  test('names its parent key as the caller, and costs no look-up while that is known', async () => {
    const { authenticator, store, token, key } = await begin();
    expect(await authenticator.socket(token, ADDRESS, undefined)).toEqual({
      organisationId: 'org_1',
      keyId: key.id,
      key,
      via: 'token',
      tokenId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(lookUps(store)).toBe(1);
  });

  test.each([10, 60, 300])('works for %d s to the millisecond of its expiry', async (ttlSeconds) => {
    const { authenticator, caller, now, wait } = await begin();
    const minted = authenticator.mint(caller, ttlSeconds);
    expect(minted).toEqual({
      token: expect.stringMatching(/^st_/),
      expires_at: new Date(now() + ttlSeconds * 1000).toISOString(),
      ttl_seconds: ttlSeconds,
    });
    wait(ttlSeconds * 1000 - 1);
    expect(await authenticator.socket(minted.token, ADDRESS, undefined)).toMatchObject({ via: 'token' });
    wait(1);
    expect((await apiErrorOf(authenticator.socket(minted.token, ADDRESS, undefined))).code).toBe('token_expired');
  });

  test.each([9, 301, 0, -1, 60.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'cannot be minted for %d s',
    async (ttlSeconds) => {
      const { authenticator, caller } = await begin();
      const refusal = await apiErrorOf(() => authenticator.mint(caller, ttlSeconds));
      expect(refusal).toMatchObject({ code: 'invalid_request', extras: { param: 'ttl_seconds' } });
    },
  );

  test('minted up to 5 s in the future of this node is good, and not one millisecond more', async () => {
    const { authenticator, caller, wait } = await begin();
    wait(5_001);
    const { token } = authenticator.mint(caller, 60);
    const behind = start();
    behind.store.findKey.mockImplementation(async () => caller.key);
    expect((await apiErrorOf(behind.authenticator.socket(token, ADDRESS, undefined))).code).toBe('invalid_token');
    behind.wait(1);
    expect(await behind.authenticator.socket(token, ADDRESS, undefined)).toMatchObject({ via: 'token' });
  });

  test('fails on REST and mints nothing, valid or not, without blame', async () => {
    const { authenticator, token } = await begin();
    for (const text of [token, `${token}x`, 'st_', ...Array.from({ length: 50 }, () => 'st_nonsense')]) {
      expect(await apiErrorOf(authenticator.rest(text, ADDRESS))).toMatchObject({
        code: 'token_not_allowed',
        status: 403,
      });
    }
    const caller = await authenticator.socket(token, ADDRESS, undefined);
    expect(await apiErrorOf(() => authenticator.mint(caller, 60))).toMatchObject({ code: 'token_not_allowed' });
  });

  test('dies with its parent key at once, and stays dead after a new start', async () => {
    const { authenticator, store, key, token } = await begin();
    store.revoke(key);
    expect((await apiErrorOf(authenticator.socket(token, ADDRESS, undefined))).code).toBe('key_revoked');
    expect((await apiErrorOf(start(store).authenticator.socket(token, ADDRESS, undefined))).code).toBe('key_revoked');
  });

  test.each([
    ['expired', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'key_expired'],
    ['suspended', { suspended: true }, 'account_suspended'],
    ['without `listen`', { scopes: ['transcribe', 'tokens'] }, 'scope_not_allowed'],
    ['of another organisation', { organisationId: 'org_2' }, 'invalid_token'],
  ] as const)('opens nothing when its parent is %s', async (_, members, code) => {
    const { store, key, token } = await begin();
    store.change(key, members);
    expect((await apiErrorOf(start(store).authenticator.socket(token, ADDRESS, undefined))).code).toBe(code);
  });

  test.each([
    ['with `tokens_may_upload`', {}, undefined],
    ['without `tokens_may_upload`', { scopes: ['listen', 'transcribe', 'tokens'] }, 'token_not_allowed'],
    ['expired', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'key_expired'],
    ['suspended', { suspended: true }, 'account_suspended'],
    ['of another organisation', { organisationId: 'org_2' }, 'invalid_token'],
  ] as const)('uploads a file for a parent %s: %s', async (_, members, code) => {
    const { store, key, token } = await begin({ scopes: ['tokens', 'tokens_may_upload'] });
    store.change(key, members);
    const { authenticator } = start(store);
    if (code === undefined) expect(await authenticator.upload(token, ADDRESS)).toMatchObject({ via: 'token' });
    else expect((await apiErrorOf(authenticator.upload(token, ADDRESS))).code).toBe(code);
    expect((await apiErrorOf(authenticator.rest(token, ADDRESS))).code).toBe('token_not_allowed');
  });

  test('uploads nothing once it or its key is over', async () => {
    const { authenticator, store, key, token, wait } = await begin({ scopes: ['tokens', 'tokens_may_upload'] });
    wait(3_600_000);
    expect((await apiErrorOf(authenticator.upload(token, ADDRESS))).code).toBe('token_expired');
    store.revoke(key);
    expect((await apiErrorOf(authenticator.upload(token, ADDRESS))).code).toBe('key_revoked');
  });

  test('fails when its parent is unknown', async () => {
    const { token } = await begin();
    expect((await apiErrorOf(start().authenticator.socket(token, ADDRESS, undefined))).code).toBe('invalid_token');
  });

  test('opens from its key’s origins only, and not without an origin', async () => {
    const { authenticator, token } = await begin({ origins });
    expect(await authenticator.socket(token, ADDRESS, origins[0])).toMatchObject({ via: 'token' });
    for (const origin of [undefined, 'https://evil.example', 'null']) {
      expect((await apiErrorOf(authenticator.socket(token, ADDRESS, origin))).code).toBe('origin_not_allowed');
    }
  });

  test('minted on one node is good on every node with the secret, and on no other', async () => {
    const { store, token, now } = await begin();
    const node = (key: Uint8Array) => createAuthenticator({ store, secret: key, now });
    expect(await node(Buffer.from(secret)).socket(token, ADDRESS, undefined)).toMatchObject({ via: 'token' });
    expect((await apiErrorOf(node(otherSecret).socket(token, ADDRESS, undefined))).code).toBe('invalid_token');
  });

  test('outlives a change of the secret for as long as the old one is named; new ones are signed with the new one', async () => {
    const { store, token, caller } = await begin();
    const changed = start(store, { secret: otherSecret, previousSecret: secret });
    expect(await changed.authenticator.socket(token, ADDRESS, undefined)).toMatchObject({ via: 'token' });
    const fresh = changed.authenticator.mint(caller, 60).token;
    const later = start(store, { secret: otherSecret });
    expect(await later.authenticator.socket(fresh, ADDRESS, undefined)).toMatchObject({ via: 'token' });
    expect((await apiErrorOf(later.authenticator.socket(token, ADDRESS, undefined))).code).toBe('invalid_token');
  });

  test('counts as expired only when it was well-formed', async () => {
    const { authenticator, token, wait } = await begin();
    wait(3_600_000);
    expect((await apiErrorOf(authenticator.socket(token, ADDRESS, undefined))).code).toBe('token_expired');
    expect((await apiErrorOf(authenticator.socket(`${token}x`, ADDRESS, undefined))).code).toBe('invalid_token');
  });
});

test('refuses a token with any one byte changed, without a look-up', async () => {
  const { authenticator, store, token } = await begin();
  const before = lookUps(store);
  const [payload, signature] = token.slice(3).split('.') as [string, string];
  const bytesOf = (text: string) => Buffer.from(text, 'base64url');
  const changed = (text: string, at: number, flip: number): string => {
    const bytes = bytesOf(text);
    bytes[at] = bytes[at]! ^ flip;
    return bytes.toString('base64url');
  };
  const forged = [1, 0x80, 0xff].flatMap((flip) => [
    ...Array.from(bytesOf(payload), (_, at) => `st_${changed(payload, at, flip)}.${signature}`),
    ...Array.from(bytesOf(signature), (_, at) => `st_${payload}.${changed(signature, at, flip)}`),
  ]);
  expect(forged.length).toBeGreaterThan(500);
  for (const text of forged) {
    const refusal = await apiErrorOf(authenticator.socket(text, freshAddress(), undefined));
    expect([refusal.code, refusal.status]).toEqual(['invalid_token', 401]);
  }
  expect(lookUps(store)).toBe(before);
});

test('refuses a token signed here for a key of another organisation', async () => {
  const { authenticator, key, now } = await begin();
  const text = mintToken(tokenSecret(secret), { jti: 'j', key: key.id, org: 'org_2', iat: now(), exp: now() + 60_000 });
  expect((await apiErrorOf(authenticator.socket(text, ADDRESS, undefined))).code).toBe('invalid_token');
});
