// After news may have been missed: what was revoked or suspended meanwhile ends, nothing else does, and it is asked until it is
// answered.
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { keepReconciled, listenToAccountChanges, reconcile } from '../../src/cluster/accounts/account-changes.ts';
import { MemoryBus } from '../../src/cluster/bus/memory.ts';
import { ACCOUNTS_OPEN, KEY_CHANGED, KEY_REVOKED, SUSPENSION } from '../../src/cluster/bus/subjects.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { apiKey } from '../fakes/api-keys.ts';
import { accountsRig } from './accounts-rig.ts';

function begin(count = 40) {
  const clock = new SimulatedClock();
  const keys = Array.from({ length: count }, (_, index) => {
    const organisationId = `org_${index % 10}`;
    const revokedAt = index % 7 === 0 ? '2026-01-01T00:00:00.000Z' : null;
    return apiKey({ id: `key_${index}`, organisationId, revokedAt, suspended: index % 10 === 3 });
  });
  const told: string[] = [];
  const state = { away: false, asked: 0, together: 0, mostTogether: 0 };
  const store = {
    async findKey(organisationId: string | null, keyId: string) {
      state.asked++;
      state.mostTogether = Math.max(state.mostTogether, ++state.together);
      await Promise.resolve();
      state.together--;
      if (state.away) throw new StoreError('unreachable', 'Nobody answers.');
      return keys.find((key) => key.id === keyId && key.organisationId === organisationId);
    },
  };
  const options = {
    store,
    keysInUse: () => [...keys, ...keys].map(({ id, organisationId }) => ({ keyId: id, organisationId })),
    revoke: (keyId: string) => told.push(keyId),
    suspend: (organisationId: string) => told.push(organisationId),
  };
  return { clock, keys, told, state, options };
}

const settled = async () => {
  for (let turn = 0; turn < 2_000; turn++) await Promise.resolve();
};

test('checks each key in use once, a few in parallel, and reports revoked and suspended ones', async () => {
  const { options, told, state, keys } = begin();
  await reconcile(options);
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null).map(({ id }) => id);
  expect(told.sort()).toEqual([...revoked, 'org_3'].sort());
  expect([state.asked, state.mostTogether]).toEqual([40, 16]);
});

test('ends nothing for a key that the ledger does not know', async () => {
  const { options, told } = begin(0);
  await reconcile({ ...options, keysInUse: () => [{ organisationId: 'org_1', keyId: 'key_gone' }] });
  expect(told).toEqual([]);
});

test('reports an unresponsive store, and ends nothing for it', async () => {
  const { options, told, state } = begin();
  state.away = true;
  await expect(reconcile(options)).rejects.toMatchObject({ reason: 'unreachable' });
  expect(told).toEqual([]);
});

describe('the periodic reconciliation', () => {
  function keep() {
    const rig = begin(8);
    const connections = new Set<(isConnected: boolean) => void>();
    const owners = new Set<() => void>();
    const bus = Object.assign(new MemoryBus(), {
      onConnection: (listener: (isConnected: boolean) => void) => {
        connections.add(listener);
        return () => connections.delete(listener);
      },
    });
    const seen = { doubts: 0, faults: 0 };
    const stop = keepReconciled({
      ...rig.options,
      bus,
      client: {
        onOwner: (listener) => {
          owners.add(listener);
          return () => owners.delete(listener);
        },
      },
      clock: rig.clock,
      doubt: () => seen.doubts++,
      onFault: () => seen.faults++,
    });
    const connect = (isConnected: boolean) => {
      for (const listener of connections) listener(isConnected);
    };
    const another = () => {
      for (const listener of owners) listener();
    };
    return { ...rig, bus, seen, stop, connect, another, listeners: () => connections.size + owners.size };
  }

  test('runs when the bus returns, or another owner answers or starts; not when the bus leaves', async () => {
    const { connect, another, bus, seen, state, clock } = keep();
    connect(false);
    await settled();
    expect([seen.doubts, state.asked]).toEqual([0, 0]);
    for (const [index, happen] of [
      () => connect(true),
      another,
      () => bus.publish(ACCOUNTS_OPEN, { type: ACCOUNTS_OPEN }),
    ].entries()) {
      clock.increment(250);
      happen();
      await settled();
      expect([seen.doubts, state.asked]).toEqual([index + 1, 8 * (index + 1)]);
    }
  });

  test('retries with growing pauses until it is answered, reported once', async () => {
    const { connect, state, seen, told, clock } = keep();
    state.away = true;
    connect(true);
    await settled();
    const asked: number[] = [];
    for (const afterMs of [249, 1, 500, 1_000, 2_000]) {
      clock.increment(afterMs);
      await settled();
      asked.push(state.asked);
    }
    expect(asked).toEqual([8, 16, 24, 32, 40]);
    expect([seen.faults, told]).toEqual([1, []]);
    state.away = false;
    clock.increment(4_000);
    await settled();
    expect(told.sort()).toEqual(['key_0', 'key_7', 'org_3']);
    const before = state.asked;
    clock.increment(3_600_000);
    await settled();
    expect(state.asked).toBe(before);
  });

  test('runs once for a thousand simultaneous reasons, and once more later', async () => {
    const { another, state, clock } = keep();
    for (let time = 0; time < 1_000; time++) another();
    await settled();
    for (let time = 0; time < 1_000; time++) another();
    await settled();
    expect(state.asked).toBe(8);
    clock.increment(250);
    await settled();
    expect(state.asked).toBe(16);
    clock.increment(3_600_000);
    await settled();
    expect(state.asked).toBe(16);
  });

  test('stays off after it was stopped, and leaves nothing', async () => {
    const { connect, stop, state, clock, listeners } = keep();
    state.away = true;
    connect(true);
    await settled();
    const before = state.asked;
    stop();
    expect(listeners()).toBe(0);
    clock.increment(3_600_000);
    await settled();
    expect(state.asked).toBe(before);
  });
});

test('delivers changes as published, and counts invalid ones', () => {
  const bus = new MemoryBus();
  const heard: unknown[] = [];
  const stop = listenToAccountChanges(bus, {
    revoked: (keyId) => heard.push(['revoked', keyId]),
    changed: (keyId) => heard.push(['changed', keyId]),
    suspension: (...news) => heard.push(['suspension', ...news]),
    unread: () => heard.push('unread'),
  });
  const tell = (topic: string, members: object) => bus.publish(topic, { type: topic, ...members });
  tell(KEY_REVOKED, { keyId: 'key_1' });
  tell(KEY_CHANGED, { keyId: 'key_2' });
  tell(SUSPENSION, { organisationId: 'org_1', suspended: true });
  for (const members of [{}, { keyId: 7 }, { keyId: '' }, { keyId: 'x'.repeat(201) }]) tell(KEY_REVOKED, members);
  for (const members of [{ organisationId: 'org_1' }, { organisationId: {}, suspended: true }])
    tell(SUSPENSION, members);
  stop();
  tell(KEY_REVOKED, { keyId: 'key_3' });
  expect(heard).toEqual([
    ['revoked', 'key_1'],
    ['changed', 'key_2'],
    ['suspension', 'org_1', true],
    ...Array.from({ length: 6 }, () => 'unread'),
  ]);
});

test('announces itself again after an outage that only this owner had', async () => {
  const { owner, service } = accountsRig();
  const told: string[] = [];
  owner.subscribe(ACCOUNTS_OPEN, ({ type }) => told.push(type));
  owner.cut();
  expect(told).toEqual([]);
  owner.mend();
  expect(told).toEqual([ACCOUNTS_OPEN]);
  await service.stop();
  owner.cut();
  owner.mend();
  expect(told).toHaveLength(1);
});
