// API keys in the store: their changes, rolls, ends and last use. Whether a key is accepted is the chart's test.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type ApiKey, DEFAULT_SCOPES, type KeySettings } from '../../../src/accounts/keys/calls.ts';
import { judgeKey } from '../../../src/accounts/keys/chart.ts';
import { parseKey } from '../../../src/accounts/keys/key-text.ts';
import { OPERATOR, openTables } from '../../fakes/store/data-directory.ts';

const HOUR_MS = 3_600_000;
const PERSON = { type: 'person', id: 'per_1', address: '192.0.2.1' } as const;

/** Tables with one organisation and the time of day set to 12:00:30.5. */
function begin() {
  const { tables, database, time } = openTables();
  const organisation = tables.createOrganisation('Ours', 0n, OPERATOR);
  const other = tables.createOrganisation('Theirs', null, OPERATOR);
  const create = (settings: Partial<KeySettings> = {}) => tables.createKey(organisation.id, settings, OPERATOR);
  return { tables, database, time, organisation, other, create };
}

/** Every setting, each away from its default. */
const full: KeySettings = {
  name: 'Call centre 漢 🎤',
  expiresAt: '2027-01-31T12:00:00.000Z',
  scopes: ['listen', 'tokens'],
  models: ['deepgram/nova-3', 'local/*'],
  origins: ['https://app.example.com', 'http://localhost:5173', 'capacitor://localhost'],
  requestsPerMinuteMax: 1,
  sessionsMax: 1_000_000,
  tokensPerMinuteMax: 60,
  dailySpendMicroUsdMax: 2n ** 63n - 1n,
  spendCeilings: [{ usd: '10', period: 'day', provider: 'deepgram' }],
  regions: ['eu', 'uk'],
  retention: 'none',
  redact: ['card'],
  replace: [{ from: 'vox gate', to: 'Voxgate' }],
  latency: 'throughput',
  tags: { customer: 'Smith, Inc.', 'cost.center': '42' },
  aliases: { best: [{ model: 'deepgram/nova-3' }, { model: 'local/commands-en', credential: 'service' }] },
};

describe('a changed key', () => {
  test('keeps what is not named, and goes back to no limit by null', () => {
    const { tables, create, organisation } = begin();
    const { key } = create(full);
    const changed = tables.changeKey(organisation.id, key.id, { name: 'New', models: null, sessionsMax: 5 }, OPERATOR);
    expect(changed).toEqual({ ...key, name: 'New', models: null, sessionsMax: 5 });
    expect(tables.findKey(null, key.id)).toEqual(changed);
  });

  test('belongs to the organisation that requests the change', () => {
    const { tables, create, other } = begin();
    const { key } = create();
    for (const [organisationId, keyId] of [
      [other.id, key.id],
      ['org_unknown', key.id],
      [key.organisationId, 'key_unknown'],
    ] as const) {
      expect(tables.changeKey(organisationId, keyId, { name: 'Mine' }, OPERATOR)).toBeUndefined();
      expect(tables.rollKey(organisationId, keyId, 0, OPERATOR)).toBeUndefined();
      expect(tables.revokeKey(organisationId, keyId, OPERATOR)).toBeUndefined();
    }
    expect(tables.listKeys()).toEqual([key]);
    expect(tables.revokeKey(null, key.id, OPERATOR)!.revokedAt).not.toBeNull();
  });

  test('stays unchanged once revoked, but may live longer once expired', () => {
    const { tables, create, organisation, time } = begin();
    const revoked = create().key;
    tables.revokeKey(null, revoked.id, OPERATOR);
    expect(() => tables.changeKey(organisation.id, revoked.id, { name: 'x' }, OPERATOR)).toThrow(
      expect.objectContaining({ reason: 'conflict' }),
    );
    const { key } = create({ expiresAt: '2026-06-15T13:00:00Z' });
    time.nowMs += HOUR_MS;
    expect(judgeKey(tables.findKey(null, key.id)!, time.nowMs)).toBe('key_expired');
    tables.changeKey(organisation.id, key.id, { expiresAt: null }, OPERATOR);
    expect(judgeKey(tables.findKey(null, key.id)!, time.nowMs)).toBe('allowed');
  });
});

describe('a rolled key', () => {
  test('gets a successor with the same settings and another secret, and works until its grace ends', () => {
    const { tables, create, organisation, time } = begin();
    const { key, secret } = create(full);
    const rolled = tables.rollKey(organisation.id, key.id, 72 * HOUR_MS, OPERATOR)!;
    expect(rolled.key).toEqual({ ...key, id: rolled.key.id, display: rolled.key.display });
    expect(rolled.key.id).not.toBe(key.id);
    expect(rolled.secret).not.toBe(secret);
    expect(rolled.old).toEqual({ ...key, graceUntil: '2026-06-18T12:00:30.500Z', rolledTo: rolled.key.id });
    expect(tables.findKeyByHash(parseKey(secret)!.hash)).toEqual(rolled.old);
    expect(tables.findKeyByHash(parseKey(rolled.secret)!.hash)).toEqual(rolled.key);
    expect(judgeKey(rolled.old, time.nowMs + 72 * HOUR_MS - 1)).toBe('allowed');
    expect(judgeKey(rolled.old, time.nowMs + 72 * HOUR_MS)).toBe('key_expired');
    expect(judgeKey(rolled.key, time.nowMs + 72 * HOUR_MS)).toBe('allowed');
    expect(tables.unheard()).toEqual([]);
  });

  test('counts as revoked without grace, which all listeners receive', () => {
    const { tables, create, organisation, time } = begin();
    const { key } = create();
    const { old, key: successor } = tables.rollKey(organisation.id, key.id, 0, OPERATOR)!;
    const now = new Date(time.nowMs).toISOString();
    expect(old).toEqual({ ...key, revokedAt: now, graceUntil: now, rolledTo: successor.id });
    expect(tables.unheard()).toEqual([key.id]);
    expect(tables.revokedKeyIds()).toEqual([key.id]);
  });

  test('cannot be rolled again, but its successor can', () => {
    const { tables, create, organisation } = begin();
    const { key } = create();
    const first = tables.rollKey(organisation.id, key.id, HOUR_MS, OPERATOR)!;
    expect(() => tables.rollKey(organisation.id, key.id, HOUR_MS, OPERATOR)).toThrow(
      expect.objectContaining({ reason: 'conflict', message: expect.stringContaining(first.key.id) }),
    );
    expect(tables.listKeys()).toEqual([first.old, first.key]);
    expect(tables.rollKey(organisation.id, first.key.id, HOUR_MS, OPERATOR)!.old.id).toBe(first.key.id);
  });

  test('can be revoked in its grace, and keeps the word of its successor', () => {
    const { tables, create, organisation, time } = begin();
    const { old } = tables.rollKey(organisation.id, create().key.id, HOUR_MS, OPERATOR)!;
    time.nowMs += 1;
    const revoked = tables.revokeKey(organisation.id, old.id, OPERATOR);
    expect(revoked).toEqual({ ...old, revokedAt: '2026-06-15T12:00:30.501Z' });
    expect(tables.unheard()).toEqual([old.id]);
  });

  test('cannot be rolled once revoked or expired', () => {
    const { tables, create, organisation, time } = begin();
    const revoked = create().key;
    tables.revokeKey(null, revoked.id, OPERATOR);
    expect(tables.rollKey(organisation.id, revoked.id, 0, OPERATOR)).toBeUndefined();
    const { key } = create({ expiresAt: '2026-06-15T13:00:00Z' });
    time.nowMs += HOUR_MS;
    expect(() => tables.rollKey(organisation.id, key.id, 0, OPERATOR)).toThrow(
      expect.objectContaining({ reason: 'conflict', message: expect.stringContaining('has expired') }),
    );
    expect(tables.listKeys()).toHaveLength(2);
  });

  test.each([-1, 72 * HOUR_MS + 1, 0.5, Number.NaN, '5'])('allows no grace of %s ms', (graceMs) => {
    const { tables, create, organisation } = begin();
    const { key } = create();
    expect(() => tables.rollKey(organisation.id, key.id, graceMs as number, OPERATOR)).toThrow(
      expect.objectContaining({ reason: 'invalid' }),
    );
    expect(tables.listKeys()).toEqual([key]);
  });
});

describe('the last use of a key', () => {
  test('rounds down to the minute and never goes back', () => {
    const { tables, create } = begin();
    const { key } = create();
    const use = (time: string): ApiKey => {
      tables.noteKeysUsed(key.organisationId, [{ keyId: key.id, atMs: Date.parse(time) }]);
      return tables.findKey(null, key.id)!;
    };
    expect(use('2026-06-15T12:34:56.789Z')).toEqual({ ...key, lastUsedAt: '2026-06-15T12:34:00.000Z' });
    expect(use('2026-06-15T12:33:59.999Z').lastUsedAt).toBe('2026-06-15T12:34:00.000Z');
    expect(use('2026-06-15T12:35:00.000Z').lastUsedAt).toBe('2026-06-15T12:35:00.000Z');
  });

  test('accepts many at once, and ignores an unknown key', () => {
    const { tables, create } = begin();
    const { organisationId, id: a } = create().key;
    const b = create().key.id;
    tables.noteKeysUsed(organisationId, [
      { keyId: a, atMs: 60_000 },
      { keyId: 'key_unknown', atMs: 60_000 },
      { keyId: b, atMs: 120_000 },
    ]);
    expect(tables.listKeys().map(({ lastUsedAt }) => Date.parse(lastUsedAt!))).toEqual([60_000, 120_000]);
    expect(() =>
      tables.noteKeysUsed(organisationId, [
        { keyId: a, atMs: 180_000 },
        { keyId: b, atMs: Number.NaN },
      ]),
    ).toThrow(expect.objectContaining({ reason: 'invalid' }));
    expect(Date.parse(tables.findKey(null, a)!.lastUsedAt!)).toBe(60_000);
  });
});

test('logs a key’s first use each day, and the client tokens that it minted', () => {
  const { tables, create } = begin();
  const { organisationId, id } = create().key;
  const use = (time: string, tokens?: number) =>
    tables.noteKeysUsed(organisationId, [{ keyId: id, atMs: Date.parse(time), ...(tokens && { tokens }) }]);
  use('2026-06-15T12:00:00Z');
  use('2026-06-15T23:59:59Z', 3);
  use('2026-06-16T00:00:00Z', 1);
  use('2026-06-15T23:59:59Z');
  expect(() => use('2026-06-16T00:00:00Z', 1.5)).toThrow(expect.objectContaining({ reason: 'invalid' }));
  const told = tables.listAudit(organisationId, 10).filter(({ by }) => by.type === 'key');
  expect(told.map(({ by, target, action, detail }) => [by.id, target, action, detail]).reverse()).toEqual([
    [id, id, 'key.used', { day: '2026-06-15' }],
    [id, id, 'tokens.minted', { count: 3 }],
    [id, id, 'key.used', { day: '2026-06-16' }],
    [id, id, 'tokens.minted', { count: 1 }],
  ]);
});

test('records changes of a key and its organisation with the actor, and no secret', () => {
  const { tables, create, organisation, database } = begin();
  const { key, secret } = create({ name: 'First', dailySpendMicroUsdMax: 5_000_000n });
  tables.changeKey(organisation.id, key.id, { name: 'Second' }, PERSON);
  tables.changeKey(organisation.id, key.id, { name: 'Second' }, PERSON);
  const rolled = tables.rollKey(organisation.id, key.id, HOUR_MS, PERSON)!;
  tables.revokeKey(null, key.id, PERSON);
  tables.revokeKey(null, key.id, OPERATOR);
  const entries = tables.listAudit(organisation.id, 100).reverse();
  expect(entries.map(({ action, target, by, detail }) => ({ action, target, by, detail }))).toEqual([
    {
      action: 'organisation.created',
      target: organisation.id,
      by: OPERATOR,
      detail: { name: 'Ours', creditLimitMicroUsd: '0' },
    },
    {
      action: 'key.created',
      target: key.id,
      by: OPERATOR,
      detail: expect.objectContaining({ name: 'First', scopes: [...DEFAULT_SCOPES], dailySpendMicroUsdMax: '5000000' }),
    },
    { action: 'key.changed', target: key.id, by: PERSON, detail: { from: { name: 'First' }, to: { name: 'Second' } } },
    {
      action: 'key.rolled',
      target: key.id,
      by: PERSON,
      detail: { to: rolled.key.id, graceUntil: rolled.old.graceUntil },
    },
    { action: 'key.revoked', target: key.id, by: PERSON, detail: { name: 'Second', display: key.display } },
  ]);
  const everything = JSON.stringify(database.prepare('SELECT * FROM audit_log').all());
  for (const each of [secret, rolled.secret]) expect(everything).not.toContain(each.slice(11, -4));
});

test('keeps nothing of a key that could recreate it', () => {
  const { database, create } = begin();
  const { secret } = create();
  const row = database.prepare('SELECT * FROM api_keys').get() as { hash: Uint8Array };
  expect(Buffer.from(row.hash)).toEqual(Buffer.from(parseKey(secret)!.hash));
  expect(JSON.stringify(row)).not.toContain(secret.slice(11, -4));
  expect(() => database.prepare('UPDATE api_keys SET hash = ?').run(randomBytes(31))).toThrow(/CHECK/);
});
