// Guessing: how little of it reaches the store, what it is told, and whom it leaves alone.
import { describe, expect, test } from 'vitest';
import { generateKey, hasValidChecksum, KEY_PREFIX } from '../../../src/accounts/keys/key-text.ts';
import type { ApiError } from '../../../src/api/errors.ts';
import { ADDRESS, apiErrorOf, begin, freshAddress, keyStore, lookUps, start } from './authenticator-fixture.ts';

const codeOf = (outcome: Promise<unknown>): Promise<string> =>
  outcome.then(
    () => 'let in',
    ({ code }: ApiError) => code,
  );

describe('20,000 guesses', () => {
  test('never reach the store with a wrong checksum, each from another address', async () => {
    const { authenticator, store } = start();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    const body = generateKey().slice(KEY_PREFIX.length, -4);
    let tried = 0;
    for (let index = 0; tried < 20_000; index++) {
      const tail = [0, 1, 2, 3].map((digit) => alphabet[Math.floor(index / 62 ** digit) % 62]).join('');
      const text = KEY_PREFIX + body + tail;
      if (hasValidChecksum(text)) continue;
      tried += 1;
      if ((await codeOf(authenticator.rest(text, freshAddress()))) !== 'invalid_api_key') throw new Error(text);
    }
    expect(lookUps(store)).toBe(0);
  });

  test('reach the store from one address 20 times at once and 20 times a minute', async () => {
    const { authenticator, store, wait } = start();
    const guesses = Array.from({ length: 500 }, generateKey);
    const askedMs: number[] = [];
    let nowMs = 0;
    store.findKeyByHash.mockImplementation(async () => {
      askedMs.push(nowMs);
      return undefined;
    });
    const codes = new Map<string, number>();
    // 2 min 30 s of 133 guesses a second, on both surfaces.
    for (let tried = 0; tried < 20_000; tried++) {
      if (tried % 2 === 0) {
        wait(15);
        nowMs += 15;
      }
      const guess = guesses[tried % guesses.length]!;
      const asked =
        tried % 3 === 0 ? authenticator.socket(guess, ADDRESS, undefined) : authenticator.rest(guess, ADDRESS);
      const code = await codeOf(asked);
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect([...codes.keys()].sort()).toEqual(['invalid_api_key', 'rate_limit_exceeded']);
    expect(askedMs.filter((ms) => ms < 3_000).length).toBe(20);
    expect(askedMs.length).toBeLessThanOrEqual(20 + 20 * 2.5);
    for (let startMs = 60_000; startMs <= 90_000; startMs += 500) {
      expect(askedMs.filter((ms) => ms >= startMs && ms < startMs + 60_000).length).toBeLessThanOrEqual(20);
    }
  });
});

test('guesses made at the same moment cannot slip through together', async () => {
  const { authenticator, store } = start();
  const codes = await Promise.all(
    Array.from({ length: 1_000 }, () => codeOf(authenticator.rest(generateKey(), ADDRESS))),
  );
  expect(codes.filter((code) => code === 'invalid_api_key').length).toBe(20);
  expect(codes.filter((code) => code === 'rate_limit_exceeded').length).toBe(980);
  expect(lookUps(store)).toBe(20);
});

test('keeps a valid key in steady use open despite guesses at its address', async () => {
  const { authenticator, text, wait } = await begin();
  const outcomes = new Set<string>();
  for (let second = 0; second < 600; second++) {
    await codeOf(authenticator.rest(generateKey(), ADDRESS));
    outcomes.add(await codeOf(authenticator.rest(text, ADDRESS)));
    wait(500);
  }
  expect([...outcomes]).toEqual(['let in']);
});

test('any number of good keys behind one address begin together', async () => {
  const { authenticator, store } = start();
  const keys = Array.from({ length: 200 }, () => store.add());
  const codes = await Promise.all(keys.map(({ text }) => codeOf(authenticator.rest(text, ADDRESS))));
  expect(new Set(codes)).toEqual(new Set(['let in']));
  expect(await codeOf(authenticator.rest(generateKey(), ADDRESS))).toBe('invalid_api_key');
});

test('costs one look-up in 5 s for a repeated guess', async () => {
  const { authenticator, store, wait } = start();
  const guess = generateKey();
  for (let round = 0; round < 10; round++) await apiErrorOf(authenticator.rest(guess, freshAddress()));
  expect(lookUps(store)).toBe(1);
  wait(5_000);
  await apiErrorOf(authenticator.rest(guess, freshAddress()));
  expect(lookUps(store)).toBe(2);
});

test('mistyped and unknown keys are refused in the same words, and so are all forged tokens', async () => {
  const { authenticator, text, token } = await begin();
  const bodies = async (credentials: readonly string[]) => {
    const refusals = credentials.map((each) => apiErrorOf(authenticator.socket(each, freshAddress(), undefined)));
    return new Set((await Promise.all(refusals)).map((refusal) => JSON.stringify(refusal.body('req'))));
  };
  const mistyped = `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`;
  expect((await bodies([generateKey(), mistyped, 'sk_vox_', 'nonsense'])).size).toBe(1);
  const stranger = start(keyStore(), { secret: Buffer.from('x'.repeat(32)) });
  const { text: strange } = stranger.store.add();
  const foreign = stranger.authenticator.mint(await stranger.authenticator.rest(strange, ADDRESS), 60).token;
  expect((await bodies([`${token}x`, token.slice(0, -1), 'st_', 'st_a.b', foreign])).size).toBe(1);
});

describe('an address that guessed too often', () => {
  async function guessed() {
    const begun = await begin();
    for (let round = 0; round < 20; round++) await apiErrorOf(begun.authenticator.rest('sk_vox_wrong', ADDRESS));
    return begun;
  }

  test('gets a retry time for any credential, without a look-up', async () => {
    const { authenticator, store, text } = await guessed();
    const { text: uncached } = store.add();
    const before = lookUps(store);
    for (const credential of [uncached, generateKey(), 'sk_vox_wrong', `${text}x`]) {
      for (const surface of [
        authenticator.rest(credential, ADDRESS),
        authenticator.socket(credential, ADDRESS, undefined),
      ]) {
        expect(await apiErrorOf(surface)).toMatchObject({
          code: 'rate_limit_exceeded',
          status: 429,
          extras: { retryAfterSeconds: 3, headers: { 'RateLimit-Limit': '20', 'RateLimit-Remaining': '0' } },
        });
      }
    }
    expect(await codeOf(authenticator.socket('st_forged', ADDRESS, undefined))).toBe('rate_limit_exceeded');
    expect(lookUps(store)).toBe(before);
  });

  test('still gets in with a good key that is in use, and with its tokens', async () => {
    const { authenticator, store, text, token } = await guessed();
    const before = lookUps(store);
    expect(await codeOf(authenticator.rest(text, ADDRESS))).toBe('let in');
    expect(await codeOf(authenticator.socket(token, ADDRESS, undefined))).toBe('let in');
    expect(lookUps(store)).toBe(before);
  });

  test('gets no relief from a key that was valid, or an expired token', async () => {
    const { authenticator, store, text, key, token, wait } = await guessed();
    wait(0);
    store.revoke(key);
    expect(await codeOf(authenticator.rest(text, ADDRESS))).toBe('rate_limit_exceeded');
    expect(await codeOf(authenticator.socket(token, ADDRESS, undefined))).toBe('rate_limit_exceeded');
  });

  test('gets its next try 3 s later, and a good key costs it nothing', async () => {
    const { authenticator, store, wait } = await guessed();
    const { text: uncached } = store.add();
    wait(2_999);
    expect(await codeOf(authenticator.rest(uncached, ADDRESS))).toBe('rate_limit_exceeded');
    wait(1);
    expect(await codeOf(authenticator.rest(uncached, ADDRESS))).toBe('let in');
    expect(await codeOf(authenticator.rest(generateKey(), ADDRESS))).toBe('invalid_api_key');
    expect(await codeOf(authenticator.rest(generateKey(), ADDRESS))).toBe('rate_limit_exceeded');
  });

  test('affects no other address, and no request without a credential', async () => {
    const { authenticator } = await guessed();
    expect(await codeOf(authenticator.rest(generateKey(), '192.0.2.8'))).toBe('invalid_api_key');
    expect(await codeOf(authenticator.rest(undefined, ADDRESS))).toBe('missing_credential');
  });
});

describe('handshakes that wait for the store', () => {
  test('stop at 20 per address and a total; cached credentials pass', async () => {
    const { authenticator, store, text } = await begin(
      {},
      { limits: { failedAuthenticationsPerMinuteMax: 1_000, handshakesMax: 30, handshakesPerAddressMax: 20 } },
    );
    const answers: (() => void)[] = [];
    store.findKeyByHash.mockImplementation(() => new Promise((resolve) => answers.push(() => resolve(undefined))));
    const knock = (address: string) => codeOf(authenticator.socket(generateKey(), address, undefined));
    const waiting = Array.from({ length: 20 }, () => knock(ADDRESS));
    expect(await knock(ADDRESS)).toBe('rate_limit_exceeded');
    waiting.push(...Array.from({ length: 10 }, () => knock('192.0.2.8')));
    expect(await knock('192.0.2.9')).toBe('overloaded');
    for (const answer of answers) answer();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['invalid_api_key']));
    for (let round = 0; round < 100; round++) {
      expect(await codeOf(authenticator.socket(text, ADDRESS, undefined))).toBe('let in');
    }
  });
});
