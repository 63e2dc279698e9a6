// What the list of models shows: prices in force, and no mode that has none.
import { expect, it } from 'vitest';
import { createPriceList, type PriceOverrides } from '../../src/config/prices/price-list.ts';
import { listModels } from '../../src/node/routes/models.ts';
import { providers } from '../../src/vendors/index.ts';
import type { Provider } from '../../src/vendors/kit/provider.ts';

function shown(slug: string, overrides: PriceOverrides, { margin = '0', hasCredential = true } = {}) {
  const models = listModels({
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    access: () => ({ baseUrl: undefined, credential: hasCredential ? 'x' : undefined }),
    prices: createPriceList(providers, overrides, margin),
    statusOf: () => 'up',
  });
  return models.find(({ id }) => id === slug);
}

it('shows the prices in force', () => {
  const overrides = { 'deepgram/nova-3': { live: { unit: 'minute' as const, amount: '0.01', minimum: '0.02' } } };
  expect(shown('deepgram/nova-3', overrides, { margin: '50' })).toMatchObject({
    modes: ['batch', 'live'],
    available: true,
    pricing: { live: { unit: 'minute', amount: '0.015', byok: '0.00', minimum: '0.03' }, batch: { amount: '0.00645' } },
  });
});

it('leaves out a mode without a price', () => {
  const model = shown('deepgram/nova-3', { 'deepgram/nova-3': { batch: null } });
  expect(model).toMatchObject({ modes: ['live'], available: true });
  expect(model?.pricing).not.toHaveProperty('batch');
});

it.each([
  ['nowhere that is known', undefined, { region: 'unknown', retention: 'unknown' }],
  ['where the configuration says', { region: 'eu' as const }, { region: 'eu', retention: 'unknown' }],
])('shows that audio goes to an address of the configuration, and that it is %s', (_, place, shownPlace) => {
  const [deepgram] = providers.filter(({ name }) => name === 'deepgram') as [Provider];
  const models = listModels({
    providers: new Map([['deepgram', deepgram]]),
    access: () => ({ baseUrl: 'https://proxy.example', credential: 'x', ...(place && { place }) }),
    prices: createPriceList(providers),
    statusOf: () => 'up',
  });
  const processing = models.flatMap((model) => model.processing);
  expect(processing).toEqual(models.map(() => expect.objectContaining(shownPlace)));
});

it('shows a model without any price as not available, like one without a credential', () => {
  const without = { 'deepgram/nova-3': { batch: null, live: null } };
  expect(shown('deepgram/nova-3', without)).toMatchObject({
    modes: [],
    pricing: { currency: 'USD' },
    available: false,
  });
  expect(shown('deepgram/nova-3', {}, { hasCredential: false })).toMatchObject({ available: false });
  expect(shown('local/commands-en', {}, { hasCredential: false })).toMatchObject({ available: true });
});

it.each([
  [undefined, 'a-key', false],
  ['http://10.0.0.5:2700', undefined, true],
])('lists a self-hosted server, at %s and with the key %s, as available: %s', (baseUrl, credential, can) => {
  const [provider] = providers.filter(({ name }) => name === 'deepgram');
  const self: Provider = { ...(provider as Provider), credential: 'none', address: 'configured' };
  const [model] = listModels({
    providers: new Map([['deepgram', self]]),
    access: () => ({ baseUrl, credential }),
    prices: createPriceList(providers),
    statusOf: () => 'up',
  });
  expect(model).toMatchObject({ available: can });
});

it.each<[string, PriceOverrides, boolean]>([
  ['deepgram/nova-3', {}, true],
  ['deepgram/nova-3', { 'deepgram/nova-3': { live: null } }, false],
  ['openai/whisper-1', {}, false],
])('lists %s with prices %j and no credential here by other nodes’ availability', (slug, overrides, can) => {
  const models = listModels({
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    access: () => ({ baseUrl: undefined, credential: undefined }),
    hasService: (provider, mode) => provider === 'deepgram' && mode === 'live',
    prices: createPriceList(providers, overrides),
    statusOf: () => 'up',
  });
  expect(models.find(({ id }) => id === slug)).toMatchObject({ available: can });
});
