// Organisations in the store: limits, suspension, and files from before there were any settings.
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { DEFAULT_SCOPES } from '../../../src/accounts/keys/calls.ts';
import { judgeKey } from '../../../src/accounts/keys/chart.ts';
import { generateKey, parseKey } from '../../../src/accounts/keys/key-text.ts';
import { keepDatabase } from '../../../src/store/keep-database.ts';
import { MIGRATIONS, organisationsAndKeys } from '../../../src/store/migrations.ts';
import { databaseIn, OPERATOR, openTables } from '../../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const PERSON = { type: 'person', id: 'per_1' } as const;

describe('an organisation', () => {
  test('gets a name and a credit limit, prepaid with 0, and can be found', () => {
    const { tables } = openTables();
    const organisation = tables.createOrganisation('Müller & Söhne', 0n, OPERATOR);
    expect(organisation).toEqual({
      id: expect.stringMatching(/^org_[0-9a-f-]{36}$/),
      name: 'Müller & Söhne',
      createdAt: '2026-06-15T12:00:30.500Z',
      suspendedAt: null,
      creditLimitMicroUsd: 0n,
      regions: null,
      retention: null,
      redact: null,
      aliases: null,
      showTranscripts: false,
      spendCeilings: null,
    });
    expect(tables.findOrganisation(organisation.id)).toEqual(organisation);
    expect(tables.listOrganisations()).toEqual([organisation]);
    expect(tables.findOrganisation('org_unknown')).toBeUndefined();
  });

  test('comes first from the gateway itself, without a limit and with a full key', () => {
    const { tables } = openTables();
    const first = tables.bootstrap()!;
    expect(first.organisation).toMatchObject({ name: 'Default', creditLimitMicroUsd: null });
    expect(first.key).toMatchObject({
      organisationId: first.organisation.id,
      scopes: [...DEFAULT_SCOPES],
      models: null,
    });
    expect(tables.bootstrap()).toBeUndefined();
    expect(tables.listAudit(null, 10).map(({ action, by }) => [action, by])).toEqual([
      ['key.created', { type: 'system', id: 'gateway' }],
      ['organisation.created', { type: 'system', id: 'gateway' }],
    ]);
  });

  test.each([
    ['a name that is empty', '', 0n],
    ['a name with a control character', 'a\tb', 0n],
    ['a limit below 0', 'x', -1n],
    ['a limit that the database could not hold', 'x', 2n ** 63n],
    ['a limit in floating point', 'x', 1.5],
  ])('fails with %s', (_what, name, limit) => {
    const { tables } = openTables();
    expect(() => tables.createOrganisation(name, limit as bigint, OPERATOR)).toThrow(
      expect.objectContaining({ reason: 'invalid' }),
    );
    expect(tables.listOrganisations()).toEqual([]);
    expect(tables.listAudit(null, 10)).toEqual([]);
  });

  test('changes its credit limit to the last micro-USD, with the actor logged once', () => {
    const { tables } = openTables();
    const { id } = tables.createOrganisation('x', 0n, OPERATOR);
    const limit = 2n ** 63n - 1n;
    expect(tables.setCreditLimit(id, limit, PERSON).creditLimitMicroUsd).toBe(limit);
    expect(tables.setCreditLimit(id, limit, PERSON).creditLimitMicroUsd).toBe(limit);
    expect(tables.findOrganisation(id)!.creditLimitMicroUsd).toBe(limit);
    expect(tables.setCreditLimit(id, null, PERSON).creditLimitMicroUsd).toBeNull();
    const changes = tables.listAudit(id, 10).filter(({ action }) => action === 'credit-limit.changed');
    expect(changes.reverse().map(({ by, detail }) => ({ by, detail }))).toEqual([
      { by: PERSON, detail: { fromMicroUsd: '0', toMicroUsd: String(limit) } },
      { by: PERSON, detail: { fromMicroUsd: String(limit), toMicroUsd: null } },
    ]);
    expect(() => tables.setCreditLimit('org_unknown', 0n, PERSON)).toThrow(
      expect.objectContaining({ reason: 'not_found' }),
    );
    expect(() => tables.setCreditLimit(id, -1n, PERSON)).toThrow(expect.objectContaining({ reason: 'invalid' }));
  });

  test('keeps its first suspension time, visible on its keys alone, until it is reinstated', () => {
    const { tables, time } = openTables();
    const ours = tables.createOrganisation('ours', 0n, OPERATOR);
    const theirs = tables.createOrganisation('theirs', 0n, OPERATOR);
    const { key, secret } = tables.createKey(ours.id, {}, OPERATOR);
    const other = tables.createKey(theirs.id, {}, OPERATOR).key;
    const suspended = tables.setSuspended(ours.id, true, PERSON);
    expect(suspended).toEqual({ ...ours, suspendedAt: '2026-06-15T12:00:30.500Z' });
    time.nowMs += 1;
    expect(tables.setSuspended(ours.id, true, PERSON)).toEqual(suspended);
    expect(tables.findOrganisation(ours.id)).toEqual(suspended);
    expect(tables.findKeyByHash(parseKey(secret)!.hash)).toEqual({ ...key, suspended: true });
    expect(tables.listKeys()).toEqual([{ ...key, suspended: true }, other]);
    expect(judgeKey(tables.findKey(null, key.id)!, time.nowMs)).toBe('account_suspended');
    expect(tables.setSuspended(ours.id, false, PERSON)).toEqual(ours);
    expect(tables.listKeys()).toEqual([key, other]);
    expect(tables.listAudit(ours.id, 2).map(({ action, by }) => [action, by])).toEqual([
      ['organisation.reinstated', PERSON],
      ['organisation.suspended', PERSON],
    ]);
    expect(() => tables.setSuspended('org_unknown', true, PERSON)).toThrow(
      expect.objectContaining({ reason: 'not_found' }),
    );
  });
});

test('migrates the first schema’s organisations and keys with their rights; revoked ones stay so', () => {
  const file = databaseIn(temporaryDirectory());
  const before = keepDatabase(new Database(file));
  before.pragma('journal_mode = WAL');
  before.exec(organisationsAndKeys);
  before.pragma('user_version = 1');
  const [works, revoked] = [generateKey(), generateKey()] as const;
  before.exec(
    "INSERT INTO organisations (id, name, created_at) VALUES ('org_1', 'Default', '2025-01-01T00:00:00.000Z')",
  );
  const insert = before.prepare(
    `INSERT INTO api_keys (id, organisation_id, name, hash, display, created_at, revoked_at, revocation)
     VALUES (?, 'org_1', ?, ?, 'sk_vox_aaaa...zzzz', '2025-01-01T00:00:00.000Z', ?, ?)`,
  );
  insert.run('key_1', 'First key', parseKey(works)!.hash, null, null);
  insert.run('key_2', 'Old key', parseKey(revoked)!.hash, '2025-06-01T00:00:00.000Z', 1);
  before.close();

  const { tables, database, time } = openTables(file);
  expect(database.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length);
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(tables.listOrganisations()).toEqual([
    {
      id: 'org_1',
      name: 'Default',
      createdAt: '2025-01-01T00:00:00.000Z',
      suspendedAt: null,
      creditLimitMicroUsd: null,
      regions: null,
      retention: null,
      redact: null,
      aliases: null,
      showTranscripts: false,
      spendCeilings: null,
    },
  ]);
  const key = tables.findKeyByHash(parseKey(works)!.hash)!;
  expect(key).toMatchObject({
    id: 'key_1',
    name: 'First key',
    scopes: [...DEFAULT_SCOPES],
    models: null,
    expiresAt: null,
  });
  expect(judgeKey(key, time.nowMs)).toBe('allowed');
  expect(judgeKey(tables.findKeyByHash(parseKey(revoked)!.hash)!, time.nowMs)).toBe('key_revoked');
  expect(tables.revokedKeyIds()).toEqual(['key_2']);
  expect(tables.bootstrap()).toBeUndefined();
  tables.revokeKey(null, 'key_1', OPERATOR);
  expect(tables.unheard()).toEqual(['key_1']);
});

test('stores an organisation’s data residency rule, logs it once, and shows it on its keys', () => {
  const { tables, database } = openTables();
  const { id } = tables.createOrganisation('Strict', 0n, OPERATOR);
  const { key } = tables.createKey(id, { regions: ['eu', 'uk', 'eu'], retention: 'none' }, OPERATOR);
  expect(key).toMatchObject({ regions: ['eu', 'uk'], retention: 'none', organisationRegions: null });
  for (let times = 0; times < 2; times++)
    expect(tables.setPlaceRule(id, { regions: ['eu'], retention: null }, OPERATOR)).toMatchObject({ regions: ['eu'] });
  expect(tables.findKey(id, key.id)).toMatchObject({ organisationRegions: ['eu'], organisationRetention: null });
  const audited = database.prepare("SELECT count(*) FROM audit_log WHERE action = 'place-rule.changed'").pluck();
  expect(audited.get()).toBe(1);
  expect(tables.setPlaceRule(id, { regions: null, retention: null }, OPERATOR)).toMatchObject({ regions: null });
  expect(() => tables.setPlaceRule(id, { regions: ['mars' as 'eu'], retention: null }, OPERATOR)).toThrow('regions');
  expect(() => tables.setPlaceRule('org_none', { regions: null, retention: null }, OPERATOR)).toThrow('organisation');
});

test('stores what the gateway redacts for an organisation, logs it once, and shows it on its keys', () => {
  const { tables, database } = openTables();
  const { id } = tables.createOrganisation('Careful', 0n, OPERATOR);
  const { key } = tables.createKey(id, { redact: ['email', 'card', 'email'] }, OPERATOR);
  expect(key).toMatchObject({ redact: ['card', 'email'], organisationRedact: null });
  for (let times = 0; times < 2; times++)
    expect(tables.setRedactionRule(id, { redact: ['phone'] }, OPERATOR)).toMatchObject({ redact: ['phone'] });
  expect(tables.findKey(id, key.id)).toMatchObject({ redact: ['card', 'email'], organisationRedact: ['phone'] });
  const audited = database.prepare("SELECT detail FROM audit_log WHERE action = 'redaction-rule.changed'").pluck();
  expect(audited.all()).toEqual([JSON.stringify({ from: null, to: ['phone'] })]);
  expect(tables.setRedactionRule(id, { redact: null }, OPERATOR)).toMatchObject({ redact: null });
  expect(() => tables.setRedactionRule(id, { redact: ['names' as 'card'] }, OPERATOR)).toThrow('date_of_birth');
  expect(() => tables.setRedactionRule('org_none', { redact: null }, OPERATOR)).toThrow('organisation');
});

test('stores an organisation’s aliases, logs them once, and shows them on its keys', () => {
  const { tables, database } = openTables();
  const { id } = tables.createOrganisation('Named', 0n, OPERATOR);
  const own = { best: [{ model: 'a/b' }] };
  const ofAll = { best: [{ model: 'c/d' }, { model: 'a/b', provider_params: { x: 1 } }] };
  const { key } = tables.createKey(id, { aliases: own }, OPERATOR);
  expect(key).toMatchObject({ aliases: own, organisationAliases: null });
  for (let times = 0; times < 2; times++)
    expect(tables.setAliases(id, ofAll, OPERATOR)).toMatchObject({ aliases: ofAll });
  expect(tables.findKey(id, key.id)).toMatchObject({ aliases: own, organisationAliases: ofAll });
  expect(tables.findOrganisation(id)).toMatchObject({ aliases: ofAll });
  const audited = database.prepare("SELECT detail FROM audit_log WHERE action = 'aliases.changed'").pluck();
  expect(audited.all().map((detail) => JSON.parse(detail as string))).toEqual([{ from: null, to: ofAll }]);
  expect(tables.setAliases(id, {}, OPERATOR)).toMatchObject({ aliases: null });
  expect(() => tables.setAliases(id, { 'a/b': ofAll.best }, OPERATOR)).toThrow('always means that model');
  expect(() => tables.setAliases('org_none', {}, OPERATOR)).toThrow('organisation');
});
