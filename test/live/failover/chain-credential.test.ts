// Whose credential each member of a chain runs on: the organisation's own key where there is one, the service's where the
// request says so or there is none, and never one in place of the other.

import { describe, expect, it } from 'vitest';
import type { OwnKey } from '../../../src/accounts/vault/own-keys.ts';
import { ApiError } from '../../../src/api/errors.ts';
import type { Candidate } from '../../../src/api/listen.ts';
import { createPriceList, type PriceOverrides } from '../../../src/config/prices/price-list.ts';
import { resolveChain } from '../../../src/live/failover/chain.ts';
import type { ModelCard, Provider } from '../../../src/vendors/kit/provider.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';

const card = loopback.models[0] as ModelCard;
const keyed = (name: string): Provider => ({
  ...loopback,
  name,
  title: name.toUpperCase(),
  models: [{ ...card, id: `${name}/a` }],
  credential: 'required',
});
const self: Provider = { ...keyed('self'), credential: 'none', address: 'configured' };
const custom: Provider = {
  ...{ ...self, name: 'custom/whisper', title: 'CUSTOM', models: [{ ...card, id: 'custom/whisper' }] },
};
const providers = new Map(
  [loopback, keyed('one'), keyed('two'), self, custom].map((provider) => [provider.name, provider]),
);

interface Situation {
  fallbacks?: Candidate[];
  model?: string;
  /** Providers that the service has a credential for. */
  service?: string[];
  /** Those whose address is configured. */
  addresses?: string[];
  /** Those that it has elsewhere, for live audio. */
  elsewhere?: string[];
  own?: Record<string, OwnKey>;
  strict?: boolean;
  prices?: PriceOverrides;
}

async function resolved({
  fallbacks = [],
  model = 'one/a',
  service = [],
  addresses = [],
  own = {},
  elsewhere,
  strict = false,
  prices,
}: Situation) {
  const asked: string[] = [];
  const chain = await resolveChain(
    {
      mode: 'live',
      organisationId: 'org_1',
      model,
      providerParams: {},
      fallbacks,
      sampleRate: 16_000,
      language: undefined,
      diarization: false,
      interimResults: true,
      strict,
    },
    {
      providers,
      engines: {},
      prices: createPriceList(providers.values(), prices),
      access: (name) => ({
        baseUrl: addresses.includes(name) ? 'http://10.0.0.5' : undefined,
        credential: service.includes(name) ? 'ours' : undefined,
      }),
      ...(elsewhere !== undefined && {
        hasService: (name: string, mode: string) => mode === 'live' && elsewhere.includes(name),
      }),
      ownKeyOf: async (organisationId, name) => {
        asked.push(`${organisationId} ${name}`);
        return own[name];
      },
    },
  );
  return {
    ...chain,
    asked,
    ids: chain.members.map(({ slug, credentialId, own: isOwn }) => [slug, credentialId, isOwn]),
  };
}

async function apiErrorOf(situation: Situation): Promise<ApiError> {
  const error = await resolved(situation).catch((thrown: unknown) => thrown);
  if (!(error instanceof ApiError)) throw new Error('The chain was taken.');
  return error;
}

const good = (id: string): OwnKey => ({ id, barred: false });
const barred = (id: string): OwnKey => ({ id, barred: true });

describe('a member runs on', () => {
  const rows: [string, Situation, [string, string, boolean][]][] = [
    ['the service’s credential without an own key', { service: ['one'] }, [['one/a', 'service', false]]],
    ['the service’s credential on another node', { elsewhere: ['one'] }, [['one/a', 'service', false]]],
    [
      'the own key, whether the service has one',
      { service: ['one'], own: { one: good('pk_1') } },
      [['one/a', 'pk_1', true]],
    ],
    [
      'the own key, which costs nothing, be the model without a price',
      { own: { one: good('pk_1') }, prices: { 'one/a': { live: null } } },
      [['one/a', 'pk_1', true]],
    ],
    ['the own key, or has none', { own: { one: good('pk_1') } }, [['one/a', 'pk_1', true]]],
    [
      'its own provider’s key, each member for itself',
      { service: ['one', 'two'], own: { two: good('pk_2') }, fallbacks: [{ model: 'two/a' }] },
      [
        ['one/a', 'service', false],
        ['two/a', 'pk_2', true],
      ],
    ],
    [
      'the service’s account where a fallback asks for it, be it the same model',
      { service: ['one'], own: { one: good('pk_1') }, fallbacks: [{ model: 'one/a', credential: 'service' }] },
      [
        ['one/a', 'pk_1', true],
        ['one/a', 'service', false],
      ],
    ],
    [
      'the own key where a fallback asks for it',
      { service: ['one'], own: { two: good('pk_2') }, fallbacks: [{ model: 'two/a', credential: 'own' }] },
      [
        ['one/a', 'service', false],
        ['two/a', 'pk_2', true],
      ],
    ],
    [
      'nothing where a fallback asks for an own key that is not there, and is left out',
      { service: ['one', 'two'], fallbacks: [{ model: 'two/a', credential: 'own' }] },
      [['one/a', 'service', false]],
    ],
    [
      'nothing where a fallback asks for the service’s account, and that has no credential',
      { own: { one: good('pk_1') }, fallbacks: [{ model: 'one/a', credential: 'service' }] },
      [['one/a', 'pk_1', true]],
    ],
    [
      'the own key although it is out of use, when a fallback is left',
      { service: ['one', 'two'], own: { one: barred('pk_1') }, fallbacks: [{ model: 'two/a' }] },
      [
        ['one/a', 'pk_1', true],
        ['two/a', 'service', false],
      ],
    ],
  ];
  it.each(rows)('%s', async (_, situation, ids) => {
    expect((await resolved(situation)).ids).toEqual(ids);
  });

  it('runs without a credential, and looks none up, where the provider needs none', async () => {
    const { ids, asked } = await resolved({ model: 'loopback/script', own: { loopback: good('pk_1') } });
    expect([ids, asked]).toEqual([[['loopback/script', 'service', false]], []]);
  });
});

it('uses a self-hosted server where its address is configured, with or without a key', async () => {
  const model = 'self/a';
  for (const found of [{ addresses: ['self'] }, { addresses: ['self'], service: ['self'] }, { elsewhere: ['self'] }])
    expect((await resolved({ model, ...found })).ids).toEqual([[model, 'service', false]]);
  const { code, message } = await apiErrorOf({ model, service: ['self'] });
  expect([code, message]).toEqual(['upstream_not_configured', expect.stringContaining('VOXGATE_SELF_URL')]);
});

it('takes no customer key for an operator’s own server, and fails where no node has it', async () => {
  const model = 'custom/whisper';
  const own = { [model]: good('pk_1'), custom: good('pk_2') };
  const { ids, asked } = await resolved({ model, addresses: [model], own });
  expect([ids, asked]).toEqual([[[model, 'service', false]], []]);
  const refused = { model, addresses: [model], elsewhere: [] };
  expect(await apiErrorOf(refused)).toMatchObject({
    code: 'upstream_not_configured',
    message: expect.stringContaining('No node that opens connections has CUSTOM in its configuration.'),
  });
  const { members, warnings } = await resolved({
    ...refused,
    fallbacks: [{ model: 'one/a' }],
    service: ['one'],
    elsewhere: ['one'],
  });
  expect([members.map(({ slug }) => slug), warnings.map(({ code }) => code)]).toEqual([['one/a'], ['model_left_out']]);
});

it('drops a fallback on the same account as a duplicate, and keeps one on another account', async () => {
  const fallbacks: Candidate[] = [{ model: 'one/a', credential: 'service' }, { model: 'one/a' }];
  const service = await resolved({ service: ['one'], fallbacks });
  expect([service.ids.length, service.warnings.map(({ code }) => code)]).toEqual([
    1,
    ['duplicate_fallback', 'duplicate_fallback'],
  ]);
  const own = await resolved({ service: ['one'], own: { one: good('pk_1') }, fallbacks });
  expect([own.ids.map(([, id]) => id), own.warnings.length]).toEqual([['pk_1', 'service'], 1]);
});

describe('a refused credential', () => {
  const rows: [string, Situation, string, string | undefined, RegExp][] = [
    ['no credential at all', {}, 'upstream_not_configured', 'model', /set ONE_API_KEY, you can save a key of your own/],
    [
      'with `strict`, a fallback on an own key that is not there',
      { service: ['one', 'two'], fallbacks: [{ model: 'two/a', credential: 'own' }], strict: true },
      'invalid_request',
      'fallbacks',
      /your own key for TWO, but none is saved/,
    ],
    [
      'with `strict`, a fallback on the service’s account where the service has none, though there is an own key',
      { own: { one: good('pk_1') }, fallbacks: [{ model: 'one/a', credential: 'service' }], strict: true },
      'upstream_not_configured',
      'fallbacks',
      /no credential for ONE\. Its operator can set ONE_API_KEY, or name another model/,
    ],
    [
      'an own key that is out of use, though the service has one',
      { service: ['one'], own: { one: barred('pk_1') } },
      'upstream_account',
      'model',
      /^Your own key for ONE cannot be used\..*The gateway's account was not used/,
    ],
    [
      'own keys that are all out of use',
      { own: { one: barred('pk_1'), two: barred('pk_2') }, fallbacks: [{ model: 'two/a' }] },
      'upstream_account',
      'model',
      /key for ONE/,
    ],
  ];
  it.each(rows)('%s', async (_, situation, code, param, words) => {
    const refusal = await apiErrorOf(situation);
    expect([refusal.code, refusal.extras.param]).toEqual([code, param]);
    expect(refusal.message).toMatch(words);
  });
});
