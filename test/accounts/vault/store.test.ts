// Provider keys as rows: one for each organisation and provider, judged by the chart, audited, and never another tenant's.
import { describe, expect, test } from 'vitest';
import type { NewProviderKey } from '../../../src/accounts/vault/store.ts';
import type { Actor } from '../../../src/store/audit-log.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { openVaultStore } from '../../fakes/store/vault-store.ts';

const by: Actor = { type: 'person', id: 'per_1' };
const START = Date.UTC(2026, 0, 1, 0, 0, 30);

const sealed = (kekId = '0a0b0c0d', rest = 'a.b.c') => `v1.${kekId}.${rest}`;
const newKey = (more: Partial<NewProviderKey> = {}): NewProviderKey => ({
  id: 'pk_1',
  organisationId: 'org_a',
  provider: 'deepgram',
  name: 'Ours',
  sealed: sealed(),
  lastFour: 'cdef',
  fields: { region: 'eu' },
  check: 'accepted',
  ...more,
});

function world() {
  const clock = { nowMs: START };
  const { tables, audited, database } = openVaultStore(clock);
  const actions = () => audited().map(({ action, target, by: actor }) => `${action} ${target} ${actor.id}`);
  return { clock, tables, audited, actions, database };
}

const reasonOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof StoreError) return error.reason;
    throw error;
  }
  return 'none';
};

describe('a saved key', () => {
  test('appears without its secret, with its test’s result', () => {
    const { tables } = world();
    const at = new Date(START).toISOString();
    const shown = {
      id: 'pk_1',
      organisationId: 'org_a',
      provider: 'deepgram',
      name: 'Ours',
      lastFour: 'cdef',
      fields: { region: 'eu' },
      failures: 0,
    };
    const usable = { ...shown, state: 'usable', createdAt: at, testedAt: at, usedAt: null };
    expect(tables.saveProviderKey(newKey(), by)).toEqual(usable);
    expect(tables.listProviderKeys('org_a')).toEqual([usable]);
    expect(tables.findProviderKey('org_a', 'deepgram')).toEqual(usable);
    const untested = tables.saveProviderKey(newKey({ id: 'pk_2', provider: 'openai', check: 'unanswered' }), by);
    expect([untested.state, untested.testedAt]).toEqual(['untested', null]);
  });

  test('takes the place of the former one for the provider, which is gone with its secret', () => {
    const { tables, audited, database } = world();
    tables.saveProviderKey(newKey(), by);
    tables.saveProviderKey(newKey({ id: 'pk_2', sealed: sealed('0a0b0c0d', 'd.e.f') }), by);
    expect(tables.listProviderKeys('org_a').map(({ id }) => id)).toEqual(['pk_2']);
    expect(tables.readSealedProviderKey('pk_1')).toBeUndefined();
    expect(database.prepare('SELECT sealed FROM provider_keys').pluck().all()).toEqual([sealed('0a0b0c0d', 'd.e.f')]);
    expect(audited().at(-1)?.detail).toEqual({
      provider: 'deepgram',
      name: 'Ours',
      test: 'accepted',
      replaced: 'pk_1',
    });
  });

  test.each([
    ['no organisation', newKey({ organisationId: 'org_none' }), 'not_found'],
    ['a name of nothing', newKey({ name: '' }), 'invalid'],
    ['a name with a line break', newKey({ name: 'a\nb' }), 'invalid'],
    ['a name that reverses the text around it', newKey({ name: 'a\u202eb' }), 'invalid'],
  ])('fails with %s, and the former one stays', (_, key, reason) => {
    const { tables, actions } = world();
    tables.saveProviderKey(newKey({ id: 'pk_0' }), by);
    expect(reasonOf(() => tables.saveProviderKey(key, by))).toBe(reason);
    expect(tables.listProviderKeys('org_a').map(({ id }) => id)).toEqual(['pk_0']);
    expect(actions()).toHaveLength(1);
  });

  test('must be sealed, by a check of the table', () => {
    const { tables } = world();
    expect(() => tables.saveProviderKey(newKey({ sealed: 'sk-plain-secret' }), by)).toThrow(/CHECK/);
  });
});

describe('another organisation', () => {
  test('cannot see, test or delete it', () => {
    const { tables, actions } = world();
    tables.saveProviderKey(newKey(), by);
    expect(tables.listProviderKeys('org_b')).toEqual([]);
    expect(tables.findProviderKey('org_b', 'deepgram')).toBeUndefined();
    expect(tables.noteProviderKeyCheck('org_b', 'pk_1', 'refused', by)).toBeUndefined();
    expect(tables.removeProviderKey('org_b', 'pk_1', by)).toBeUndefined();
    expect(tables.findProviderKey('org_a', 'deepgram')?.state).toBe('usable');
    expect(actions()).toEqual(['provider-key.saved pk_1 per_1']);
  });
});

describe('the life of a key', () => {
  test('disables it after three consecutive refusals, logged once; a success resets the count', () => {
    const { tables, actions } = world();
    tables.saveProviderKey(newKey(), by);
    const states = (['refused', 'refused', 'accepted', 'refused', 'refused', 'refused', 'refused'] as const).map(
      (outcome) => tables.noteProviderKeyUse('pk_1', outcome)?.state,
    );
    expect(states).toEqual(['failing', 'failing', 'usable', 'failing', 'failing', 'disabled', 'disabled']);
    expect(actions()).toEqual(['provider-key.saved pk_1 per_1', 'provider-key.disabled pk_1 vault']);
  });

  test('restores it by a test, rejects it, or leaves it disabled', () => {
    const { tables, actions, clock } = world();
    tables.saveProviderKey(newKey({ check: 'unanswered' }), by);
    for (let time = 0; time < 3; time++) tables.noteProviderKeyUse('pk_1', 'refused');
    clock.nowMs += 60_000;
    const outcomes = (['unanswered', 'accepted', 'refused', 'unanswered'] as const).map((outcome) => {
      const key = tables.noteProviderKeyCheck('org_a', 'pk_1', outcome, by);
      return [key?.state, key?.testedAt === null ? null : 'tested'];
    });
    expect(outcomes).toEqual([
      ['disabled', null],
      ['usable', 'tested'],
      ['rejected', 'tested'],
      ['disabled', 'tested'],
    ]);
    expect(actions().filter((action) => action.startsWith('provider-key.tested'))).toHaveLength(4);
  });

  test('records its last use to the minute', () => {
    const { tables } = world();
    tables.saveProviderKey(newKey(), by);
    expect(tables.noteProviderKeyUse('pk_1', 'accepted')?.usedAt).toBe('2026-01-01T00:00:00.000Z');
    expect(tables.noteProviderKeyUse('pk_none', 'accepted')).toBeUndefined();
  });

  test('deletes it, and its secret with it', () => {
    const { tables, actions } = world();
    tables.saveProviderKey(newKey(), by);
    expect(tables.removeProviderKey('org_a', 'pk_1', by)?.id).toBe('pk_1');
    expect(tables.listSealedProviderKeys()).toEqual([]);
    expect(actions().at(-1)).toBe('provider-key.deleted pk_1 per_1');
  });
});

describe('sealing all keys again', () => {
  const rows = () => {
    const made = world();
    made.tables.keepVaultCanary(sealed('0a0b0c0d', 'canary.x.y'));
    made.tables.saveProviderKey(newKey(), by);
    made.tables.saveProviderKey(newKey({ id: 'pk_2', provider: 'openai' }), by);
    return made;
  };
  const texts = () => [
    { id: 'pk_1', from: sealed(), to: sealed('11111111') },
    { id: 'pk_2', from: sealed(), to: sealed('11111111') },
    { id: null, from: sealed('0a0b0c0d', 'canary.x.y'), to: sealed('11111111', 'canary.x.y') },
  ];

  test('changes all texts, the canary too, and is audited with its counts', () => {
    const { tables, audited } = rows();
    tables.resealVault('11111111', texts(), by);
    expect(tables.countSealedBy()).toEqual([{ kekId: '11111111', keys: 2 }]);
    expect(tables.vaultCanary()).toBe(sealed('11111111', 'canary.x.y'));
    expect(audited().at(-1)).toMatchObject({ action: 'provider-key.rotated', detail: { keys: 2, kekId: '11111111' } });
  });

  test.each([
    [
      'a text that is no longer what it was',
      [{ id: 'pk_2', from: sealed('0a0b0c0d', 'x.y.z'), to: sealed('11111111') }],
    ],
    ['a key that is gone', [{ id: 'pk_9', from: sealed(), to: sealed('11111111') }]],
    ['another canary', [{ id: null, from: sealed('0a0b0c0d', 'x.y.z'), to: sealed('11111111') }]],
    ['a key that was left out', []],
  ])('changes nothing for %s', (_, others) => {
    const { tables, actions } = rows();
    const before = actions().length;
    expect(reasonOf(() => tables.resealVault('11111111', [texts()[0]!, ...others], by))).toBe('conflict');
    expect(tables.countSealedBy()).toEqual([{ kekId: '0a0b0c0d', keys: 2 }]);
    expect(tables.vaultCanary()).toBe(sealed('0a0b0c0d', 'canary.x.y'));
    expect(actions()).toHaveLength(before);
  });

  test('keeps the first canary', () => {
    const { tables } = rows();
    expect(tables.keepVaultCanary(sealed('22222222'))).toBe(sealed('0a0b0c0d', 'canary.x.y'));
  });
});
