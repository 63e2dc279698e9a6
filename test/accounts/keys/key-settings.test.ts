// Which settings a key may have, in which form they are kept, and what refuses the others.
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { DEFAULT_SCOPES, type KeySettings } from '../../../src/accounts/keys/calls.ts';
import { parseKey } from '../../../src/accounts/keys/key-text.ts';
import { OPERATOR, openTables } from '../../fakes/store/data-directory.ts';

/** Tables with one organisation and the time of day set to 12:00:30.5. */
function begin() {
  const { tables, database } = openTables();
  const organisation = tables.createOrganisation('Ours', 0n, OPERATOR);
  const other = tables.createOrganisation('Theirs', null, OPERATOR);
  const create = (settings: Partial<KeySettings> = {}) => tables.createKey(organisation.id, settings, OPERATOR);
  return { tables, database, organisation, other, create };
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
  redact: ['card', 'email'],
  replace: [
    { from: 'vox gate', to: 'Voxgate' },
    { from: '，', to: '', match: 'literal', language: 'zh' },
  ],
  latency: 'throughput',
  tags: { customer: 'Smith, Inc.', 'cost.center': '42' },
  aliases: {
    'nova-3': [
      { model: 'deepgram/nova-3', provider_params: { smart_format: true, nested: [{ a: [null, 1.5, 'x'] }] } },
      { model: 'loopback/script', credential: 'service' },
    ],
    [`${'x'.repeat(79)}~`]: [{ model: 'deepgram/nova-3', credential: 'own' }],
    constructor: Array.from({ length: 9 }, (_, index) => ({ model: `a/${index}` })),
  },
};

const CHAIN = [{ model: 'a/b' }];
const nested = (levels: number): unknown => (levels === 0 ? 'x' : [nested(levels - 1)]);

describe('a new key', () => {
  test('gets the usual scopes and no limits by default', () => {
    const { create, organisation } = begin();
    const { key, secret } = create();
    expect(key).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f-]{36}$/),
      organisationId: organisation.id,
      display: `${secret.slice(0, 11)}...${secret.slice(-4)}`,
      createdAt: '2026-06-15T12:00:30.500Z',
      name: 'key',
      expiresAt: null,
      scopes: [...DEFAULT_SCOPES],
      models: null,
      origins: null,
      requestsPerMinuteMax: null,
      sessionsMax: null,
      tokensPerMinuteMax: null,
      dailySpendMicroUsdMax: null,
      spendCeilings: null,
      hasCeilings: false,
      regions: null,
      retention: null,
      redact: null,
      replace: null,
      latency: null,
      aliases: null,
      tags: null,
      organisationRegions: null,
      organisationRetention: null,
      organisationRedact: null,
      organisationAliases: null,
      organisationUnlimited: false,
      organisationShowsTranscripts: false,
      revokedAt: null,
      graceUntil: null,
      rolledTo: null,
      lastUsedAt: null,
      makerId: null,
      maker: null,
      suspended: false,
    });
  });

  test('keeps every setting, also through the file, and is found by its hash, its id and its organisation', () => {
    const { tables, create, organisation, other } = begin();
    const { key, secret } = create(full);
    expect(key).toMatchObject(full);
    expect(tables.findKeyByHash(parseKey(secret)!.hash)).toEqual(key);
    expect(tables.findKey(null, key.id)).toEqual(key);
    expect(tables.listKeys(organisation.id)).toEqual([key]);
    expect(tables.listKeys(other.id)).toEqual([]);
    expect(tables.findKey(null, 'key_unknown')).toBeUndefined();
  });

  test('gets deduplicated lists, ordered scopes and a time with milliseconds', () => {
    const { key } = begin().create({
      scopes: ['tokens', 'listen', 'tokens'],
      models: ['a/b', 'a/*', 'a/b'],
      expiresAt: '2027-01-31T12:00:00Z',
    });
    expect(key).toMatchObject({
      scopes: ['listen', 'tokens'],
      models: ['a/b', 'a/*'],
      expiresAt: '2027-01-31T12:00:00.000Z',
    });
  });

  test('takes nothing from its settings but settings, and nothing from those that are undefined', () => {
    const foreign = { revokedAt: 'now', organisationId: 'org_other', id: 'key_mine', name: undefined };
    const { key } = begin().create(foreign as object);
    expect(key).toMatchObject({ revokedAt: null, name: 'key' });
    expect(key.id).not.toBe('key_mine');
  });

  const many = (item: (index: number) => string) => Array.from({ length: 101 }, (_, index) => item(index));
  const bad: [keyof KeySettings, unknown[]][] = [
    [
      'name',
      [
        '',
        'x'.repeat(101),
        'line\nbreak',
        'null\0',
        '\u001b[31m',
        'half \ud83c',
        'turned \u202e',
        'apart \u2066',
        'two\u2028lines',
        7,
        null,
      ],
    ],
    [
      'expiresAt',
      [
        ...['', 'tomorrow', '2027-01-31', '2027-01-31T12:00:00', '2027-01-31T12:00:00+01:00', '2027-02-30T12:00:00Z'],
        ...['2027-13-01T00:00:00Z', '2026-06-15T12:00:30.500Z', '2020-01-01T00:00:00Z', '+012027-01-01T00:00:00Z'],
        ...[1_900_000_000_000, {}],
      ],
    ],
    ['scopes', [[], ['admin'], ['listen', 'Listen'], 'listen', null, [['listen']], ['toString']]],
    [
      'models',
      [[], ['*'], ['*/*'], ['deepgram'], ['deepgram/'], ['deepgram/nova*'], ['/x'], [7], 'a/b', many((n) => `a/${n}`)],
    ],
    [
      'origins',
      [
        ...[[], ['*'], ['null'], ['app.example.com'], ['https://app.example.com/'], ['https://app.example.com/path']],
        ...[['https://*.example.com'], ['HTTPS://app.example.com'], ['https://App.example.com'], ['https://a:443']],
        ...[['https://user@a'], ['https://'], ['https://a?'], ['https://a#'], ['https://a b'], [' https://a'], [7]],
        ...['https://a', many((n) => `https://${n}.example.com`), ['data:text/html'], [`https://${'a'.repeat(300)}`]],
      ],
    ],
    ...(['requestsPerMinuteMax', 'sessionsMax', 'tokensPerMinuteMax'] as const).map(
      (name): [keyof KeySettings, unknown[]] => [name, [0, -1, 1.5, Number.NaN, Infinity, 2 ** 53, '5', 5n]],
    ),
    ['dailySpendMicroUsdMax', [-1n, 2n ** 63n, 5, '5']],
    ['regions', [[], ['global'], ['unknown'], ['eu', 'mars'], 'eu', ['']]],
    ['retention', ['kept', 'NONE', true]],
    ['latency', ['fast', 'LOW', true]],
    [
      'aliases',
      [
        ...['best', ['best'], 7, true, { best: 'a/b' }, { best: ['a/b'] }, { best: [] }, { best: { model: 'a/b' } }],
        ...['', ' best', 'the best', 'a/b', '/', '-best', 'b\u00e9st', 'line\n', 'x'.repeat(81)].map((name) => ({
          [name]: CHAIN,
        })),
        JSON.parse('{"__proto__": [{"model": "a/b"}]}'),
        ...['best', 'a/*', '', 7, undefined, `a/${'x'.repeat(97)}`].map((model) => ({ best: [...CHAIN, { model }] })),
        ...[{ fallbacks: [] }, { credential: 'mine' }, { credential: null }].map((more) => ({
          best: [{ model: 'a/b', ...more }],
        })),
        ...['x', [], null, { a: 5n }, { a: nested(12) }].map((params) => ({
          best: [{ model: 'a/b', provider_params: params }],
        })),
        { best: Array.from({ length: 10 }, (_, index) => ({ model: `a/${index}` })) },
        Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`a${index}`, CHAIN])),
        { best: [{ model: 'a/b', provider_params: { prompt: 'x'.repeat(16_384) } }] },
      ],
    ],
  ];
  test.each(bad)('fails when the %s is invalid, as does a changed one', (name, values) => {
    const { tables, create, organisation, other } = begin();
    const { key } = create();
    const entries = tables.listAudit(null, 100);
    for (const value of values) {
      const settings = { [name]: value } as Partial<KeySettings>;
      const refusal = { reason: 'invalid', message: expect.stringMatching(/^[^\n\0]{20,250}\.$/) };
      const told = inspect(value);
      expect(() => tables.createKey(organisation.id, settings, OPERATOR), told).toThrow(
        expect.objectContaining(refusal),
      );
      expect(() => tables.changeKey(organisation.id, key.id, settings, OPERATOR), told).toThrow(
        expect.objectContaining(refusal),
      );
    }
    expect(tables.listKeys()).toEqual([key]);
    expect(tables.listKeys(other.id)).toEqual([]);
    expect(tables.listAudit(null, 100)).toEqual(entries);
  });

  test('needs an organisation', () => {
    const { tables } = begin();
    expect(() => tables.createKey('org_unknown', {}, OPERATOR)).toThrow(
      expect.objectContaining({
        reason: 'not_found',
        message: 'There is no organisation "org_unknown"; voxgate orgs list shows them.',
      }),
    );
  });
});

test.each([
  ['scopes', '[]'],
  ['scopes', 'listen'],
  ['scopes', '{}'],
  ['models', '["a/b"'],
  ['aliases', '{"best"'],
  ['origins', '"https://a"'],
  ['expires_at', 'soon'],
  ['grace_until', '2027-01-01T00:00:00.000Z'],
  ['requests_per_minute_max', 0],
  ['daily_spend_micro_usd_max', -1],
])('rejects a row with %s as %s', (column, value) => {
  const { database, create } = begin();
  create();
  expect(() => database.prepare(`UPDATE api_keys SET ${column} = ?`).run(value)).toThrow(/CHECK constraint failed/);
});
