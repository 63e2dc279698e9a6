// Where audio of a chain may go: rules of request, key and organisation, held against what the real catalogue promises.
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../src/api/errors.ts';
import type { NamedRegion } from '../../../src/api/residency-rule.ts';
import { createPriceList } from '../../../src/config/prices/price-list.ts';
import { type Ask, resolveChain } from '../../../src/live/failover/chain.ts';
import type { OwnKey } from '../../../src/live/failover/chain-credential.ts';
import { providers } from '../../../src/vendors/index.ts';
import type { AskedRule } from '../../../src/vendors/kit/place-rules.ts';
import type { ProviderAccess } from '../../../src/vendors/kit/provider.ts';

const rule = (regions: NamedRegion[] | null, retention: 'none' | null = null, by = 'the request'): AskedRule => ({
  by,
  regions,
  retention,
});
const EU = rule(['eu']);
const NOTHING_KEPT = rule(null, 'none');

interface World {
  access?: Partial<ProviderAccess>;
  own?: OwnKey;
}

async function members(ask: Partial<Ask> & Pick<Ask, 'model'>, { access = {}, own }: World = {}) {
  const chain = await resolveChain(
    {
      ...{ mode: 'live', organisationId: 'org_1', providerParams: {}, fallbacks: [], sampleRate: 16_000 },
      ...{ language: undefined, diarization: false, interimResults: false, strict: false },
      ...ask,
    },
    {
      providers: new Map(providers.map((provider) => [provider.name, provider])),
      prices: createPriceList(providers),
      engines: {},
      access: () => ({ baseUrl: undefined, credential: 'service-key', ...access }),
      ownKeyOf: async () => own,
    },
  );
  return chain.members;
}

const refusal = (ask: Partial<Ask> & Pick<Ask, 'model'>, world?: World): Promise<ApiError> =>
  members(ask, world).then(
    () => expect.fail('It was let in.'),
    (error: ApiError) => error,
  );

describe('a model whose provider promises what is required', () => {
  it.each<[string, Partial<Ask> & Pick<Ask, 'model'>, World]>([
    ['an endpoint that any key opens', { model: 'speechmatics/enhanced', rules: [rule(['us'])] }, {}],
    ['one of several regions', { model: 'speechmatics/enhanced', rules: [rule(['au', 'eu'])] }, {}],
    ['live audio that is not stored', { model: 'speechmatics/enhanced', rules: [NOTHING_KEPT] }, {}],
    ['files that are not kept', { model: 'openai/whisper-1', mode: 'batch', rules: [NOTHING_KEPT] }, {}],
    [
      'the operator’s account is in the region',
      { model: 'soniox/stt-rt-v5', rules: [EU] },
      { access: { fields: { region: 'eu' } } },
    ],
    [
      'the operator says where the URL lies',
      { model: 'deepgram/nova-3', rules: [EU] },
      { access: { baseUrl: 'https://own.example', place: { region: 'eu' } } },
    ],
    [
      'the operator has agreed on it',
      { model: 'openai/whisper-1', rules: [NOTHING_KEPT] },
      { access: { place: { retention: 'none' } } },
    ],
    [
      'the own key is of the region',
      { model: 'soniox/stt-rt-v5', rules: [EU] },
      { own: { id: 'pk_1', barred: false, fields: { region: 'eu' } } },
    ],
    [
      'the own key opens every region',
      { model: 'assemblyai/universal-3-6-pro', rules: [EU] },
      { own: { id: 'pk_1', barred: false, fields: {} } },
    ],
    ['this machine', { model: 'local/digits-en', rules: [rule(['self'], 'none')] }, {}],
    [
      'this machine, which is in the region',
      { model: 'local/digits-en', rules: [EU] },
      { access: { place: { region: 'eu' } } },
    ],
  ])('gets admitted: %s', async (_, ask, world) => {
    expect(await members(ask, world)).toMatchObject([
      { slug: ask.model, rule: { retention: ask.rules?.[0]?.retention } },
    ]);
  });

  it('gets the endpoint that the rule chooses, where the credential has none', async () => {
    const ask = { model: 'assemblyai/universal-3-6-pro', rules: [EU] };
    const own = { fields: { region: 'eu' } };
    const found = [
      ...(await members({ ...ask, rules: [] })),
      ...(await members(ask)),
      ...(await members(ask, { access: own })),
    ];
    expect(found.map(({ endpoint }) => endpoint)).toEqual([undefined, 'eu', undefined]);
  });

  it('gets the options that it needs', async () => {
    const [member] = await members({ model: 'deepgram/nova-3', rules: [EU], providerParams: { smart_format: true } });
    expect(member?.params).toEqual({ smart_format: true, mip_opt_out: true });
  });
});

describe('a model that breaks a rule', () => {
  it.each<[string, string, Partial<Ask> & Pick<Ask, 'model'>, World]>([
    ['no region is promised', 'region_not_allowed', { model: 'cartesia/ink-2', rules: [EU] }, {}],
    [
      'unknown does not count as a region',
      'region_not_allowed',
      { model: 'groq/whisper-large-v3', mode: 'batch', rules: [EU] },
      {},
    ],
    ['the account is elsewhere', 'region_not_allowed', { model: 'soniox/stt-rt-v5', rules: [EU] }, {}],
    [
      'the region is of files alone',
      'region_not_allowed',
      { model: 'speechmatics/enhanced', rules: [rule(['au'])] },
      {},
    ],
    [
      'the EEA is more than the EU',
      'region_not_allowed',
      { model: 'openai/whisper-1', mode: 'batch', rules: [EU] },
      { access: { fields: { region: 'eu' } } },
    ],
    [
      'the region of the URL is not set',
      'region_not_allowed',
      { model: 'speechmatics/enhanced', rules: [EU] },
      { access: { baseUrl: 'https://proxy.example' } },
    ],
    [
      'an own key goes to the same URL',
      'region_not_allowed',
      { model: 'soniox/stt-rt-v5', rules: [EU] },
      { access: { baseUrl: 'https://proxy.example' }, own: { id: 'pk_1', barred: false, fields: { region: 'eu' } } },
    ],
    [
      'the own key is of another region',
      'region_not_allowed',
      { model: 'soniox/stt-rt-v5', rules: [EU] },
      { own: { id: 'pk_1', barred: false, fields: { region: 'us' } } },
    ],
    [
      'the own key names another than the rule',
      'region_not_allowed',
      { model: 'speechmatics/enhanced', rules: [EU] },
      { own: { id: 'pk_1', barred: false, fields: { region: 'us' } } },
    ],
    [
      'the own key’s region is not set',
      'region_not_allowed',
      { model: 'soniox/stt-rt-v5', rules: [EU] },
      { own: { id: 'pk_1', barred: false } },
    ],
    [
      'jobs are kept',
      'retention_not_allowed',
      { model: 'speechmatics/enhanced', mode: 'batch', rules: [NOTHING_KEPT] },
      {},
    ],
    ['it is kept but by agreement', 'retention_not_allowed', { model: 'openai/whisper-1', rules: [NOTHING_KEPT] }, {}],
    [
      'the operator’s agreement is not the customer’s',
      'retention_not_allowed',
      { model: 'openai/whisper-1', rules: [NOTHING_KEPT] },
      { access: { place: { retention: 'none' } }, own: { id: 'pk_1', barred: false, fields: {} } },
    ],
    [
      'rules contradict each other',
      'region_not_allowed',
      { model: 'speechmatics/enhanced', rules: [rule(['us']), rule(['eu'], null, 'the API key')] },
      {},
    ],
    [
      'the organisation is stricter than the key',
      'region_not_allowed',
      {
        model: 'soniox/stt-rt-v5',
        rules: [rule(null), rule(['us', 'eu'], null, 'the API key'), rule(['eu'], null, 'the organisation')],
      },
      {},
    ],
    [
      'its options say otherwise',
      'region_not_allowed',
      { model: 'deepgram/nova-3', rules: [EU], providerParams: { mip_opt_out: false } },
      {},
    ],
  ])('gets refused: %s', async (_, code, ask, world) => {
    const { code: told, message, extras } = await refusal(ask, world);
    expect({ told, param: extras.param }).toEqual({ told: code, param: 'model' });
    expect(message).toContain(ask.model);
    expect(message).toMatch(/ask(s)? for (region|retention)/);
  });

  it.each([
    ['by its slug', { model: 'soniox/stt-rt-v5' }],
    ['as an object with its own options', { model: 'deepgram/nova-3', provider_params: { mip_opt_out: false } }],
    ['on the service’s account', { model: 'soniox/stt-rt-v5', credential: 'service' as const }],
  ])('gets refused as a fallback that is named %s', async (_, fallback) => {
    const refused = await refusal({ model: 'speechmatics/enhanced', fallbacks: [fallback], rules: [EU] });
    expect(refused).toMatchObject({ code: 'region_not_allowed', extras: { param: 'fallbacks' } });
    expect(refused.message).toContain(fallback.model);
  });

  it('gets refused with what would comply', async () => {
    const { message } = await refusal({
      model: 'deepgram/nova-3',
      rules: [EU],
      providerParams: { mip_opt_out: false },
    });
    expect(message).toContain('`mip_opt_out`: true');
    const { message: other } = await refusal({ model: 'cartesia/ink-2', rules: [EU] });
    expect(other).toMatch(/the request asks for region eu.*its audio goes to global.*GET \/v1\/models/);
    const configured = { access: { baseUrl: 'https://proxy.example' } };
    const { message: own } = await refusal({ model: 'speechmatics/enhanced', rules: [EU] }, configured);
    expect(own).toMatch(/goes to unknown.*, an address of .*VOXGATE_SPEECHMATICS_REGION and …_RETENTION say that/);
  });
});
