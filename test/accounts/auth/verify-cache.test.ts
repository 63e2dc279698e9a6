// What is remembered of keys: for how long, how much of it, and how it is forgotten.

import { describe, expect, test, vi } from 'vitest';
import { SimulatedClock } from 'xstate';
import { byHash, byId, VerifyCache } from '../../../src/accounts/auth/verify-cache.ts';
import type { ApiKey } from '../../../src/accounts/keys/calls.ts';
import { StoreError, type StoreErrorReason } from '../../../src/store/store-error.ts';
import { apiKey } from '../../fakes/api-keys.ts';

const hashOf = (index: number) => new Uint8Array(Buffer.from(`hash of key ${index}`));

/** A cache over keys by their number; `calls` counts what the store was asked. */
function begin(entriesMax?: number, hearsNews?: () => boolean) {
  const clock = new SimulatedClock();
  const keys = new Map<string, ApiKey>();
  const text = (hash: Uint8Array) => Buffer.from(hash).toString();
  const store = {
    findKeyByHash: vi.fn(async (hash: Uint8Array) => keys.get(text(hash))),
    findKey: vi.fn(async (_organisationId: string | null, keyId: string) =>
      [...keys.values()].find(({ id }) => id === keyId),
    ),
  };
  const add = (index: number, members: Partial<ApiKey> = {}) => {
    const key = apiKey({ id: `key_${index}`, ...members });
    keys.set(text(hashOf(index)), key);
    return key;
  };
  const cache = new VerifyCache({ store, clock, hearsNews, ...(entriesMax === undefined ? {} : { entriesMax }) });
  const calls = () => store.findKeyByHash.mock.calls.length + store.findKey.mock.calls.length;
  return { clock, store, cache, add, calls };
}

describe('a key', () => {
  test('takes one look-up in 30 s, then another', async () => {
    const { cache, clock, add, calls } = begin();
    const key = add(1);
    for (const afterMs of [0, 15_000, 14_999]) {
      clock.increment(afterMs);
      expect(await cache.find(byHash(hashOf(1)))).toBe(key);
    }
    expect(calls()).toBe(1);
    clock.increment(1);
    expect(cache.fresh(byHash(hashOf(1)))).toBeUndefined();
    expect(await cache.find(byHash(hashOf(1)))).toBe(key);
    expect(calls()).toBe(2);
  });

  test('found by its text is known by its id as well', async () => {
    const { cache, add, calls } = begin();
    const key = add(1);
    await cache.find(byHash(hashOf(1)));
    expect(await cache.find(byId('org_1', 'key_1'))).toBe(key);
    expect(calls()).toBe(1);
  });

  test('renews under its text as well when it is looked up by id', async () => {
    const { cache, clock, add, calls } = begin();
    add(1);
    await cache.find(byHash(hashOf(1)));
    clock.increment(30_000);
    const changed = add(1, { name: 'changed' });
    await cache.find(byId('org_1', 'key_1'));
    expect(await cache.find(byHash(hashOf(1)))).toBe(changed);
    expect(calls()).toBe(2);
  });

  test('costs one call for many simultaneous look-ups', async () => {
    const { cache, add, calls } = begin();
    const key = add(1);
    const answers = await Promise.all(Array.from({ length: 500 }, () => cache.find(byHash(hashOf(1)))));
    expect(new Set(answers)).toEqual(new Set([key]));
    expect(calls()).toBe(1);
  });

  test('needs a new look-up at once when evicted, under each of its names', async () => {
    for (const name of [byHash(hashOf(1)), byId('org_1', 'key_1')]) {
      const { cache, add, calls } = begin();
      add(1);
      add(2);
      await cache.find(byHash(hashOf(1)));
      await cache.find(byHash(hashOf(2)));
      cache.evict('key_1');
      expect(cache.fresh(name)).toBeUndefined();
      expect(cache.fresh(byHash(hashOf(2)))).toBeDefined();
      await cache.find(name);
      expect(calls()).toBe(3);
    }
  });

  test('evicted while the store is answering is not remembered as it was', async () => {
    const { cache, add, calls } = begin();
    add(1);
    const asked = cache.find(byHash(hashOf(1)));
    const changed = add(1, { revokedAt: 'now' });
    cache.evict('key_1');
    await asked;
    expect(await cache.find(byHash(hashOf(1)))).toBe(changed);
    expect(calls()).toBe(2);
  });
});

describe('an unknown key', () => {
  test('stays unknown for 5 s', async () => {
    const { cache, clock, add, calls } = begin();
    expect(await cache.find(byHash(hashOf(1)))).toBeUndefined();
    const key = add(1);
    clock.increment(4_999);
    expect(await cache.find(byHash(hashOf(1)))).toBeUndefined();
    expect(calls()).toBe(1);
    clock.increment(1);
    expect(await cache.find(byHash(hashOf(1)))).toBe(key);
  });

  test('never pushes a known one out', async () => {
    const { cache, add, calls } = begin(100);
    add(1);
    await cache.find(byHash(hashOf(1)));
    for (let guess = 1_000; guess < 2_000; guess++) await cache.find(byHash(hashOf(guess)));
    expect(cache.size).toBeLessThanOrEqual(100);
    expect(cache.fresh(byHash(hashOf(1)))).toBeDefined();
    expect(calls()).toBe(1_001);
  });
});

test('holds a limited number of entries, and drops the oldest first', async () => {
  const { cache, add } = begin(100);
  for (let index = 0; index < 200; index++) {
    add(index);
    await cache.find(byHash(hashOf(index)));
    expect(cache.size).toBeLessThanOrEqual(100);
  }
  expect(cache.fresh(byHash(hashOf(0)))).toBeUndefined();
  expect(cache.fresh(byId('org_1', 'key_0'))).toBeUndefined();
  expect(cache.fresh(byHash(hashOf(199)))).toBeDefined();
  expect(cache.size).toBe(90);
});

test('drops what is too old for any use', async () => {
  const { cache, clock, add } = begin();
  for (let index = 0; index < 50; index++) {
    add(index);
    await cache.find(byHash(hashOf(index)));
    await cache.find(byHash(hashOf(1_000 + index)));
  }
  clock.increment(300_000);
  add(99);
  await cache.find(byHash(hashOf(99)));
  await cache.find(byHash(hashOf(1_099)));
  expect(cache.size).toBe(3);
});

describe('a store that rejects', () => {
  const failing = (reason: StoreErrorReason) => async () => {
    throw new StoreError(reason, 'no');
  };

  test.each(['busy', 'overflow', 'unreachable'] as const)(
    'serves a key known for less than 5 minutes, when %s',
    async (reason) => {
      const { cache, clock, store, add, calls } = begin();
      const key = add(1);
      await cache.find(byHash(hashOf(1)));
      store.findKeyByHash.mockImplementation(failing(reason));
      clock.increment(299_999);
      expect(await cache.find(byHash(hashOf(1)))).toBe(key);
      expect(calls()).toBe(2);
      clock.increment(1);
      await expect(cache.find(byHash(hashOf(1)))).rejects.toMatchObject({ reason });
      await expect(cache.find(byHash(hashOf(2)))).rejects.toMatchObject({ reason });
    },
  );

  test.each(['failed', 'closed'] as const)('serves nothing old when it has %s', async (reason) => {
    const { cache, clock, store, add } = begin();
    add(1);
    await cache.find(byHash(hashOf(1)));
    store.findKeyByHash.mockImplementation(failing(reason));
    clock.increment(30_000);
    await expect(cache.find(byHash(hashOf(1)))).rejects.toMatchObject({ reason });
  });

  test('rejects for all who shared the call, and the next asks again', async () => {
    const { cache, store, add, calls } = begin();
    const key = add(1);
    store.findKeyByHash.mockImplementationOnce(failing('busy'));
    const answers = await Promise.allSettled([cache.find(byHash(hashOf(1))), cache.find(byHash(hashOf(1)))]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await cache.find(byHash(hashOf(1)))).toBe(key);
    expect(calls()).toBe(2);
  });

  test('never serves an evicted key', async () => {
    const { cache, store, add } = begin();
    add(1);
    await cache.find(byHash(hashOf(1)));
    cache.evict('key_1');
    store.findKeyByHash.mockImplementation(failing('busy'));
    await expect(cache.find(byHash(hashOf(1)))).rejects.toMatchObject({ reason: 'busy' });
  });
});

describe('a node without the database', () => {
  const unreachable = async () => {
    throw new StoreError('unreachable', 'no');
  };

  test('serves a known key for 30 s without revocation events, and no longer', async () => {
    const { cache, clock, store, add } = begin(undefined, () => false);
    const key = add(1);
    await cache.find(byHash(hashOf(1)));
    store.findKeyByHash.mockImplementation(unreachable);
    clock.increment(29_999);
    expect(await cache.find(byHash(hashOf(1)))).toBe(key);
    clock.increment(1);
    await expect(cache.find(byHash(hashOf(1)))).rejects.toMatchObject({ reason: 'unreachable' });
  });

  test('waits for no look-up of known keys: one per second asks, and unknown ones always do', async () => {
    const { cache, clock, store, add, calls } = begin();
    for (const index of [1, 2, 3]) {
      add(index);
      await cache.find(byHash(hashOf(index)));
    }
    store.findKeyByHash.mockImplementation(unreachable);
    clock.increment(30_000);
    for (const index of [1, 2, 3, 1, 2, 3]) expect(await cache.find(byHash(hashOf(index)))).toBeDefined();
    expect(calls()).toBe(4);
    for (const index of [8, 9]) await expect(cache.find(byHash(hashOf(index)))).rejects.toBeInstanceOf(StoreError);
    expect(calls()).toBe(6);
    clock.increment(1_000);
    expect(await cache.find(byHash(hashOf(1)))).toBeDefined();
    expect(calls()).toBe(7);
  });

  test('looks up everything again after a doubt, also unknown keys and pending look-ups', async () => {
    const { cache, clock, store, add, calls } = begin();
    add(1);
    await cache.find(byHash(hashOf(1)));
    await cache.find(byHash(hashOf(2)));
    const onItsWay = cache.find(byHash(hashOf(3)));
    const third = add(3);
    cache.doubt();
    await onItsWay;
    clock.increment(1);
    const [changed, second] = [add(1, { name: 'changed' }), add(2)];
    expect(cache.fresh(byHash(hashOf(1)))).toBeUndefined();
    expect(await Promise.all([1, 2, 3].map((index) => cache.find(byHash(hashOf(index)))))).toEqual([
      changed,
      second,
      third,
    ]);
    expect(calls()).toBe(6);
    expect(cache.fresh(byHash(hashOf(1)))).toBe(changed);
    expect(store.findKey).not.toHaveBeenCalled();
  });

  test('serves old entries for 30 s after a doubt, until they are looked up', async () => {
    const { cache, clock, store, add } = begin();
    const key = add(1);
    await cache.find(byHash(hashOf(1)));
    cache.doubt();
    store.findKeyByHash.mockImplementation(unreachable);
    clock.increment(29_999);
    expect(await cache.find(byHash(hashOf(1)))).toBe(key);
    clock.increment(1);
    await expect(cache.find(byHash(hashOf(1)))).rejects.toMatchObject({ reason: 'unreachable' });
    store.findKeyByHash.mockImplementation(async () => key);
    await cache.find(byHash(hashOf(1)));
    store.findKeyByHash.mockImplementation(unreachable);
    clock.increment(299_999);
    expect(await cache.find(byHash(hashOf(1)))).toBe(key);
  });

  test('serves a refreshed key for five minutes of the next outage, though unused', async () => {
    const { cache, clock, store, add } = begin();
    const key = add(1);
    await cache.find(byHash(hashOf(1)));
    clock.increment(1_000);
    cache.doubt();
    clock.increment(1);
    const recent = cache.recent();
    expect(recent.map(({ id }) => id)).toEqual([key.id]);
    for (const { id, organisationId } of recent) await cache.refresh(byId(organisationId, id));
    store.findKeyByHash.mockImplementation(unreachable);
    store.findKey.mockImplementation(unreachable);
    clock.increment(299_999);
    expect(await cache.find(byHash(hashOf(1)))).toBe(key);
    clock.increment(1);
    await expect(cache.find(byHash(hashOf(1)))).rejects.toMatchObject({ reason: 'unreachable' });
    expect(cache.recent()).toEqual([]);
  });

  test('refreshes up to 1,000 keys, the latest first', async () => {
    const { cache, clock, add } = begin();
    for (let index = 1; index <= 1_005; index++) {
      add(index);
      await cache.find(byHash(hashOf(index)));
      clock.increment(1);
    }
    const last = await cache.find(byHash(hashOf(1_005)));
    const recent = cache.recent();
    expect([recent.length, recent[0]]).toEqual([1_000, last]);
  });
});
