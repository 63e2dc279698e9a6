// The chain of a request, checked whole before the first sample: models, modes, options, credentials, and what each member
// would not honour.

import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import type { Candidate } from '../../../src/api/listen.ts';
import { createPriceList, FREE, type PriceOverrides } from '../../../src/config/prices/price-list.ts';
import { type Ask, rateFor, resolveChain } from '../../../src/live/failover/chain.ts';
import type { Engine, ModelCard, Provider } from '../../../src/vendors/kit/provider.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';
import { puppetProvider } from '../session/puppet.ts';

const ASK: Ask = {
  mode: 'live',
  organisationId: 'org_1',
  model: 'loopback/script',
  providerParams: {},
  fallbacks: [],
  sampleRate: 16_000,
  language: undefined,
  diarization: false,
  interimResults: true,
  strict: false,
};

const card = loopback.models[0] as ModelCard;
/** `puppet/a` and its like know English only and can do next to nothing. */
const plain = puppetProvider({
  card: { languages: ['en-US', 'fr'], capabilities: { ...card.capabilities, interim_results: false } },
});
const batchOnly: Provider = {
  ...puppetProvider({ card: { modes: ['batch'] } }),
  name: 'tape',
  models: [{ ...card, id: 'tape/a', modes: ['batch'], pricing: { currency: 'USD' } }],
};
const closed: Provider = {
  ...loopback,
  name: 'closed',
  title: 'Closed',
  models: [{ ...card, id: 'closed/a' }],
  credential: 'required',
};
const unchecked: Engine = {
  connect: () => {
    throw new Error('Nothing connects while a chain is checked.');
  },
};
const checking: Engine = {
  ...unchecked,
  check: async (query) => (query.take === 13 ? { param: 'take', message: '13 is not taken.' } : undefined),
};

const offered = [loopback, plain, batchOnly, closed];

const resolve = (ask: Partial<Ask>, prices: PriceOverrides = {}) =>
  resolveChain(
    { ...ASK, ...ask },
    {
      providers: new Map(offered.map((provider) => [provider.name, provider])),
      prices: createPriceList(offered, prices),
      engines: { loopback: unchecked, puppet: checking },
      access: () => ({ baseUrl: undefined, credential: undefined }),
    },
  );

async function apiErrorOf(ask: Partial<Ask>): Promise<ApiError> {
  const error = await resolve(ask).catch((thrown: unknown) => thrown);
  if (!(error instanceof ApiError)) throw new Error('The chain was taken.');
  return error;
}

const fallback = (model: string, provider_params?: Record<string, unknown>): Candidate =>
  provider_params === undefined ? { model } : { model, provider_params };

describe('a chain', () => {
  it('consists of the model and its fallbacks, each with its own options and rate', async () => {
    const { members, warnings } = await resolve({
      sampleRate: 11_025,
      providerParams: { final_delay_ms: 5 },
      fallbacks: [fallback('loopback/numbered', { turn_seconds: 1 }), fallback('loopback/script')],
    });
    expect(members.map(({ slug, params, sampleRate }) => [slug, params, sampleRate])).toEqual([
      ['loopback/script', { final_delay_ms: 5 }, 16_000],
      ['loopback/numbered', { turn_seconds: 1 }, 16_000],
      ['loopback/script', {}, 16_000],
    ]);
    expect(warnings).toEqual([]);
  });

  it('takes eight fallbacks, and warns of those that are named twice with the same options', async () => {
    const eight = [0, 1, 2, 3, 0, 1].map((final_delay_ms) => fallback('loopback/script', { final_delay_ms }));
    const { members, warnings } = await resolve({
      fallbacks: [...eight, fallback('loopback/script'), fallback('loopback/script', {})],
    });
    expect(members).toHaveLength(5);
    expect(warnings.map(({ code, param }) => [code, param])).toEqual(
      Array.from({ length: 4 }, () => ['duplicate_fallback', 'fallbacks']),
    );
  });

  it.each([
    ['its first member', 'closed/a', 'loopback/script', 'model'],
    ['a fallback', 'loopback/script', 'closed/a', 'fallbacks'],
  ])('continues without %s that has no credential, and warns', async (_, model, other, param) => {
    const { members, warnings } = await resolve({ model, fallbacks: [fallback(other)] });
    expect(members.map(({ slug }) => slug)).toEqual(['loopback/script']);
    expect(warnings.map((each) => [each.code, each.param])).toEqual([['model_left_out', param]]);
    expect(warnings[0]?.message).toMatch(/^closed\/a is left out: .*Its operator can set CLOSED_API_KEY/);
  });

  const unpriced = { 'loopback/numbered': { live: null } };

  it.each([
    ['its first member', 'loopback/numbered', 'loopback/script', 'model'],
    ['a fallback', 'loopback/script', 'loopback/numbered', 'fallbacks'],
  ])('continues without %s that has no price, and warns', async (_, model, other, param) => {
    const { members, warnings } = await resolve({ model, fallbacks: [fallback(other)] }, unpriced);
    expect(members.map(({ slug, price }) => [slug, price])).toEqual([['loopback/script', FREE]]);
    expect(warnings.map((each) => [each.code, each.param])).toEqual([['model_left_out', param]]);
    expect(warnings[0]?.message).toMatch(/^loopback\/numbered is left out: .*has no live price here/);
  });

  it('may use a model in the mode that has a price', async () => {
    const ask = { mode: 'batch', model: 'loopback/numbered' } as const;
    expect((await resolve(ask, unpriced)).members).toHaveLength(1);
  });

  it.each<[string, Partial<Ask>, string, string, string]>([
    [
      'nine fallbacks',
      { fallbacks: Array.from({ length: 9 }, () => fallback('loopback/script')) },
      'invalid_request',
      'fallbacks',
      'names 9 models; at most 8',
    ],
    [
      '500 fallbacks',
      { fallbacks: Array.from({ length: 500 }, () => fallback('no/thing')) },
      'invalid_request',
      'fallbacks',
      'names 500 models',
    ],
    ['a mistyped model', { model: 'loopback/scrpt' }, 'model_not_found', 'model', 'Did you mean loopback/script'],
    ['a model far from all', { model: 'loopback/whisper-3' }, 'model_not_found', 'model', 'Did you mean loopback/'],
    ['a mistyped provider', { model: 'lopback/script' }, 'model_not_found', 'model', 'Did you mean loopback/script'],
    ['another case', { model: 'Loopback/Script' }, 'model_not_found', 'model', 'Did you mean loopback/script'],
    ['a model without its provider', { model: 'script' }, 'model_not_found', 'model', 'Did you mean loopback/script'],
    ['nothing like a model', { model: '../../etc/passwd' }, 'model_not_found', 'model', 'GET /v1/models'],
    ['a model that objects have', { model: 'constructor/prototype' }, 'model_not_found', 'model', 'GET /v1/models'],
    ['a provider named __proto__', { model: '__proto__/x' }, 'model_not_found', 'model', 'There is no model'],
    ['a model that cannot be printed', { model: 'loopback/\u0000\u202e' }, 'model_not_found', 'model', '"loopback/??"'],
    ['a model of 4 KB', { model: `loopback/${'x'.repeat(4_096)}` }, 'model_not_found', 'model', 'There is no model'],
    ['an empty model', { model: '' }, 'model_not_found', 'model', 'There is no model ""'],
    [
      'an unknown fallback',
      { fallbacks: [fallback('loopback/numbered'), fallback('loopback/nmbered')] },
      'model_not_found',
      'fallbacks',
      'Did you mean loopback/numbered',
    ],
    ['a model for files only', { model: 'tape/a' }, 'invalid_request', 'model', 'has no live mode; it supports batch'],
    [
      'a fallback for files only',
      { fallbacks: [fallback('tape/a')] },
      'invalid_request',
      'fallbacks',
      'has no live mode',
    ],
    [
      'a provider without a credential',
      { model: 'closed/a' },
      'upstream_not_configured',
      'model',
      'no credential for Closed. Its operator can set CLOSED_API_KEY, or name another model.',
    ],
    [
      'a fallback without a credential, and `strict`',
      { fallbacks: [fallback('closed/a')], strict: true },
      'upstream_not_configured',
      'fallbacks',
      'no credential for Closed',
    ],
    [
      'nothing but members without a credential',
      { model: 'closed/a', fallbacks: [fallback('closed/a')] },
      'upstream_not_configured',
      'model',
      'no credential for Closed',
    ],
    [
      'a bad option of a fallback without a credential',
      { fallbacks: [fallback('closed/a', { turn_seconds: 0 })] },
      'invalid_provider_params',
      'fallbacks.turn_seconds',
      'closed/a',
    ],
    [
      'an unknown option',
      { providerParams: { finl_delay_ms: 1 } },
      'invalid_provider_params',
      'provider_params.finl_delay_ms',
      'It accepts ready_delay_ms',
    ],
    ...['diarize', 'speaker_labels', 'Diarization'].map((name): [string, Partial<Ask>, string, string, string] => [
      `the option ${name}, which is a parameter of every model`,
      { providerParams: { [name]: true } },
      'invalid_provider_params',
      `provider_params.${name}`,
      'Send `diarization` outside `provider_params`',
    ]),
    [
      'an option of another type',
      { providerParams: { final_delay_ms: '5' } },
      'invalid_provider_params',
      'provider_params.final_delay_ms',
      'a whole number',
    ],
    [
      'an option out of range',
      { providerParams: { final_delay_ms: 60_001 } },
      'invalid_provider_params',
      'provider_params.final_delay_ms',
      '60000',
    ],
    [
      'an option that is null',
      { providerParams: { final_delay_ms: null } },
      'invalid_provider_params',
      'provider_params.final_delay_ms',
      'a whole number',
    ],
    [
      'an option inside an option',
      {
        providerParams: {
          turns: [
            { text: 'a', seconds: 1 },
            { text: 7, seconds: 1 },
          ],
        },
      },
      'invalid_provider_params',
      'provider_params.turns.1.text',
      'Send a text',
    ],
    [
      'an unknown option inside an option',
      { providerParams: { fail: { how: 'close', when: 1 } } },
      'invalid_provider_params',
      'provider_params.fail.when',
      'It accepts',
    ],
    [
      'an option named __proto__',
      { providerParams: JSON.parse('{"__proto__":{}}') },
      'invalid_provider_params',
      'provider_params.__proto__',
      'It accepts',
    ],
    [
      'an option that cannot be printed',
      { providerParams: { 'a\n\u202eb': 1 } },
      'invalid_provider_params',
      'provider_params.a??b',
      'It accepts',
    ],
    [
      'too many turns',
      { providerParams: { turns: Array.from({ length: 1_001 }, () => ({ text: '', seconds: 1 })) } },
      'invalid_provider_params',
      'provider_params.turns',
      'It accepts',
    ],
    [
      'the option of another model',
      { providerParams: { turn_seconds: 1 } },
      'invalid_provider_params',
      'provider_params.turn_seconds',
      'loopback/script',
    ],
    [
      'a bad option of a fallback',
      { fallbacks: [fallback('loopback/numbered', { turn_seconds: 0 })] },
      'invalid_provider_params',
      'fallbacks.turn_seconds',
      'loopback/numbered',
    ],
    [
      'an option that the engine refuses',
      { model: 'puppet/a', interimResults: false, providerParams: { take: 13 } },
      'invalid_provider_params',
      'provider_params.take',
      '13 is not taken',
    ],
  ])('refuses %s, and names the cause', async (_, ask, code, param, message) => {
    const refusal = await apiErrorOf(ask);
    expect([refusal.code, refusal.extras.param]).toEqual([code, param]);
    expect(refusal.message).toContain(message);
    expect(refusal.message.length).toBeLessThan(400);
    expect(refusal.message).toMatch(/^[\x20-\x7e]*$/);
  });

  it.each<[string, Partial<Ask>, string, string]>([
    ['a language it does not know', { language: 'de' }, 'language_unsupported', 'language'],
    ['to detect the language', { language: 'auto' }, 'language_detection_unsupported', 'language'],
    ['speakers', { diarization: true }, 'diarization_unsupported', 'diarization'],
    ['interims', { interimResults: true }, 'interim_results_unsupported', 'interim_results'],
  ])('warns when a request wants %s, and refuses it in strict mode', async (_, ask, code, param) => {
    const asked = { model: 'puppet/a', interimResults: false, ...ask };
    const { members } = await resolve(asked);
    expect(members[0]?.degradations.map((each) => [each.code, each.param])).toEqual([[code, param]]);
    const refusal = await apiErrorOf({ ...asked, strict: true });
    expect([refusal.code, refusal.extras.param, refusal.status]).toEqual(['unsupported_parameter', param, 422]);
    const inFallback = await apiErrorOf({
      ...asked,
      model: 'loopback/script',
      fallbacks: [fallback('puppet/a')],
      diarization: false,
      strict: true,
      ...ask,
    });
    expect(inFallback.code).toBe('unsupported_parameter');
  });

  it.each(['en', 'en-US', 'en-us', 'EN-GB', 'fr-CA', 'fr'])('knows the language %s by its base', async (language) => {
    const { members } = await resolve({ model: 'puppet/a', interimResults: false, language, strict: true });
    const base = language.slice(0, 2).toLowerCase();
    const message = `puppet/a treats \`${language}\` as \`${base}\`.`;
    // The language alone is that of where most people speak it.
    const isCut = ['EN-GB', 'fr-CA'].includes(language);
    expect(members[0]?.degradations).toEqual(isCut ? [{ code: 'parameter_mapped', message, param: 'language' }] : []);
  });

  it('names several things it would not honour, the worst first', async () => {
    const { members } = await resolve({ model: 'puppet/a', language: 'auto', diarization: true });
    expect(members[0]?.degradations.map(({ code }) => code)).toEqual([
      'language_detection_unsupported',
      'diarization_unsupported',
      'interim_results_unsupported',
    ]);
  });

  it.each([
    [8_000, 8_000],
    [8_001, 16_000],
    [16_000, 16_000],
    [22_050, 24_000],
    [44_100, 48_000],
    [48_000, 48_000],
  ])('sends %d Hz as %d Hz: never less where the model takes more', (asked, sent) => {
    expect(rateFor(card, asked)).toBe(sent);
    expect(rateFor({ ...card, audio: { ...card.audio, sample_rates: [16_000] } }, asked)).toBe(16_000);
    expect(rateFor({ ...card, audio: { ...card.audio, sample_rates: [] } }, asked)).toBe(asked);
  });
});

describe('a model of an alias that has not the mode', () => {
  const fallbacks = [{ model: 'loopback/script' }];

  it.each([false, true])('leaves that model out and reports it, also with strict=%s', async (strict) => {
    const { members, warnings } = await resolve({ model: 'tape/a', fallbacks, aliased: 2, strict });
    expect(members.map(({ slug }) => slug)).toEqual(['loopback/script']);
    expect(warnings).toMatchObject([{ code: 'model_left_out', message: expect.stringContaining('no live mode') }]);
  });

  it('refuses the request where no other model is left, or where it names the model itself', async () => {
    await expect(resolve({ model: 'tape/a', aliased: 1 })).rejects.toThrow('no live mode');
    await expect(resolve({ model: 'loopback/script', fallbacks: [{ model: 'tape/a' }], aliased: 1 })).rejects.toThrow(
      'no live mode',
    );
  });
});
