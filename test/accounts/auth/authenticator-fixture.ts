// An authenticator over a store of keys in memory that counts what it is asked, on clocks that tests move.

import { expect, vi } from 'vitest';
import { SimulatedClock } from 'xstate';
import {
  type Authenticator,
  type AuthenticatorOptions,
  createAuthenticator,
} from '../../../src/accounts/auth/authenticate.ts';
import type { ApiKey } from '../../../src/accounts/keys/calls.ts';
import { generateKey, parseKey } from '../../../src/accounts/keys/key-text.ts';
import { ApiError } from '../../../src/api/errors.ts';
import { apiKey } from '../../fakes/api-keys.ts';

export const secret = Buffer.from('a secret of at least thirty-two characters');
export const ADDRESS = '192.0.2.7';
const STARTED_MS = 1_800_000_000_000;

export function keyStore() {
  const keys = new Map<string, ApiKey>();
  const listeners = new Set<(keyId: string) => void>();
  const redeemed = new Set<string>();
  const hex = (hash: Uint8Array) => Buffer.from(hash).toString('hex');
  const change = (key: ApiKey, members: Partial<ApiKey>): ApiKey => {
    const changed = { ...key, ...members };
    for (const [hash, { id }] of keys) if (id === key.id) keys.set(hash, changed);
    return changed;
  };
  return {
    findKeyByHash: vi.fn(async (hash: Uint8Array) => keys.get(hex(hash))),
    findKey: vi.fn(async (_organisationId: string | null, keyId: string) =>
      [...keys.values()].find(({ id }) => id === keyId),
    ),
    noteKeysUsed: vi.fn(async () => {}),
    redeemToken: vi.fn(async (_organisationId: string, tokenId: string) => {
      const isFirst = !redeemed.has(tokenId);
      redeemed.add(tokenId);
      return isFirst;
    }),
    onKeyRevoked: (listener: (keyId: string) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    listeners,
    add(members: Partial<ApiKey> = {}): { text: string; key: ApiKey } {
      const text = generateKey();
      const { hash, display } = parseKey(text)!;
      const key = apiKey({ id: `key_${keys.size}`, display, ...members });
      keys.set(hex(hash), key);
      return { text, key };
    },
    change,
    /** Without a word to anybody. */
    revokeSilently: (key: ApiKey) => change(key, { revokedAt: 'now' }),
    revoke(key: ApiKey) {
      change(key, { revokedAt: 'now' });
      for (const listener of listeners) listener(key.id);
    },
  };
}

export type KeyStore = ReturnType<typeof keyStore>;

/** What the store was asked so far. */
export const lookUps = (store: KeyStore): number =>
  store.findKeyByHash.mock.calls.length + store.findKey.mock.calls.length;

/** An authenticator of which nothing is known yet; `wait` moves both clocks. */
export function start(store: KeyStore = keyStore(), options: Partial<AuthenticatorOptions> = {}) {
  const clock = new SimulatedClock();
  const now = () => STARTED_MS + clock.now();
  const authenticator: Authenticator = createAuthenticator({ store, secret, now, clock, ...options });
  return { store, authenticator, clock, now, wait: (ms: number) => clock.increment(ms) };
}

/** The same with one key that was used already, its caller, and a token of it. */
export async function begin(members: Partial<ApiKey> = {}, options: Partial<AuthenticatorOptions> = {}) {
  const begun = start(keyStore(), options);
  const { text, key } = begun.store.add(members);
  const caller = await begun.authenticator.rest(text, ADDRESS);
  return { ...begun, text, key, caller, token: begun.authenticator.mint(caller, 60).token };
}

export async function apiErrorOf(outcome: Promise<unknown> | (() => unknown)): Promise<ApiError> {
  const error: unknown = await (typeof outcome === 'function' ? (async () => outcome())() : outcome).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

/** One credential on both surfaces, each from an address that did nothing before. */
export function surfaces(authenticator: Authenticator) {
  return [
    (credential: string | undefined) => authenticator.rest(credential, freshAddress()),
    (credential: string | undefined) => authenticator.socket(credential, freshAddress(), undefined),
  ] as const;
}

let addresses = 0;
export const freshAddress = (): string =>
  `2001:db8:${(++addresses >> 16).toString(16)}:${(addresses & 0xffff).toString(16)}::1`;
