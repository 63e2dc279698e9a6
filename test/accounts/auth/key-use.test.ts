// When keys were last used, and which were revoked just now: what is told to the store, and how much is remembered.
import { describe, expect, test, vi } from 'vitest';
import { SimulatedClock } from 'xstate';
import { Revocations } from '../../../src/accounts/auth/authenticate.ts';
import { KeyUse } from '../../../src/accounts/auth/key-use.ts';
import { StoreError } from '../../../src/store/store-error.ts';

function begin(keysMax?: number) {
  const clock = new SimulatedClock();
  const store = {
    noteKeysUsed: vi.fn(async (_organisationId: string, _used: readonly { keyId: string; atMs: number }[]) => {}),
  };
  return { clock, store, use: new KeyUse({ store, clock, ...(keysMax === undefined ? {} : { keysMax }) }) };
}

describe('the last use of keys', () => {
  test('leaves once a minute, the newest per key, and not at all without one', async () => {
    const { clock, store, use } = begin();
    for (let atMs = 1; atMs <= 1_000; atMs++) use.note('org_1', `key_${atMs % 2}`, atMs);
    clock.increment(59_999);
    expect(store.noteKeysUsed).not.toHaveBeenCalled();
    clock.increment(1);
    expect(store.noteKeysUsed.mock.calls).toEqual([
      [
        'org_1',
        [
          { keyId: 'key_1', atMs: 999 },
          { keyId: 'key_0', atMs: 1_000 },
        ],
      ],
    ]);
    clock.increment(600_000);
    expect(store.noteKeysUsed).toHaveBeenCalledTimes(1);
    use.note('org_1', 'key_1', 2_000);
    clock.increment(60_000);
    expect(store.noteKeysUsed).toHaveBeenCalledTimes(2);
  });

  test('includes the tokens minted, and repeats them after a failure', async () => {
    const { clock, store, use } = begin();
    use.note('org_1', 'key_1', 1, 1);
    use.note('org_1', 'key_1', 2, 1);
    use.note('org_1', 'key_2', 3);
    store.noteKeysUsed.mockRejectedValueOnce(new StoreError('busy', 'no'));
    clock.increment(60_000);
    await vi.waitFor(() => expect(use.dropped).toBe(1));
    use.note('org_1', 'key_1', 5, 1);
    clock.increment(60_000);
    expect(store.noteKeysUsed).toHaveBeenLastCalledWith('org_1', [{ keyId: 'key_1', atMs: 5, tokens: 3 }]);
  });

  test('leaves at the close, and never after it', async () => {
    const { clock, store, use } = begin();
    use.note('org_1', 'key_1', 1);
    await use.close();
    expect(store.noteKeysUsed.mock.calls).toEqual([['org_1', [{ keyId: 'key_1', atMs: 1 }]]]);
    use.note('org_1', 'key_1', 2);
    clock.increment(600_000);
    await use.close();
    expect(store.noteKeysUsed).toHaveBeenCalledTimes(1);
  });

  test('covers a limited number of keys; the oldest is dropped, and counted', async () => {
    const { store, use } = begin(2);
    for (const key of ['a', 'b', 'a', 'c']) use.note('org_1', key, 1);
    await use.close();
    expect(store.noteKeysUsed.mock.calls[0]?.[1].map(({ keyId }) => keyId)).toEqual(['a', 'c']);
    expect(use.dropped).toBe(1);
  });

  test('counts what the store does not take, and breaks nothing', async () => {
    const { clock, store, use } = begin();
    store.noteKeysUsed.mockRejectedValueOnce(new StoreError('busy', 'no'));
    use.note('org_1', 'key_1', 1);
    clock.increment(60_000);
    await vi.waitFor(() => expect(use.dropped).toBe(1));
    use.note('org_1', 'key_1', 2);
    await use.close();
    expect(store.noteKeysUsed).toHaveBeenLastCalledWith('org_1', [{ keyId: 'key_1', atMs: 2 }]);
  });
});

describe('revocations', () => {
  test('stay in memory for at least ten minutes, up to a limit', () => {
    const clock = new SimulatedClock();
    const revocations = new Revocations(clock, 3);
    revocations.add('a');
    clock.increment(599_999);
    revocations.add('b');
    expect(['a', 'b', 'c'].map((key) => revocations.has(key))).toEqual([true, true, false]);
    clock.increment(1);
    revocations.add('c');
    expect(['a', 'b', 'c'].map((key) => revocations.has(key))).toEqual([false, true, true]);
    for (const key of ['d', 'b', 'e']) revocations.add(key);
    expect(['b', 'c', 'd', 'e'].map((key) => revocations.has(key))).toEqual([true, false, true, true]);
    expect(revocations.size).toBe(3);
  });
});
