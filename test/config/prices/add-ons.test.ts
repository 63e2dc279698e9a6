// Add-ons: what a provider charges by itself is charged to whoever asks for it, in every model of the registry that names one.
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { microUsdOf } from '../../../src/config/prices/price.ts';
import { createPriceList, FREE, priceWith } from '../../../src/config/prices/price-list.ts';
import { type Ask, resolveChain } from '../../../src/live/failover/chain.ts';
import { providers } from '../../../src/vendors/index.ts';

const OPTION = 'provider_params.';
const known = new Map(providers.map((provider) => [provider.name, provider]));

const rows = providers.flatMap((provider) =>
  provider.models.flatMap((card) =>
    (['live', 'batch'] as const).flatMap((mode) =>
      (card.pricing[mode]?.add_ons ?? []).flatMap(({ amount, asked_by }) =>
        asked_by.map((by) => ({ provider, card, mode, amount, by })),
      ),
    ),
  ),
);

const askOf = (mode: Ask['mode'], model: string): Ask => ({
  ...{ mode, organisationId: 'org_1', model, providerParams: {}, fallbacks: [], sampleRate: 16_000 },
  ...{ language: undefined, diarization: false, interimResults: true, strict: false },
});

const membersOf = async (ask: Ask, overrides = {}, margin = '0', own = false) => {
  const dependencies = {
    ...{ providers: known, engines: {}, prices: createPriceList(providers, overrides, margin) },
    access: () => ({ baseUrl: undefined, credential: 'key' }),
    ...(own ? { ownKeyOf: async () => ({ id: 'pk_1', barred: false }) } : {}),
  };
  return (await resolveChain(ask, dependencies as never)).members;
};

/** A value of an option, as its schema takes it. */
function sampleOf(schema: object): unknown {
  const fitting = [true, ['Voxgate'], ['numbers'], ['pii'], 'latest', 'v1', 'medical-v1'].find((value) =>
    Value.Check(schema as never, value),
  );
  if (fitting === undefined) throw new Error(`No value for ${JSON.stringify(schema)}.`);
  return fitting;
}

describe('add-ons of the registry', () => {
  it.each(rows)('$card.id ($mode) costs $amount more with $by', async ({ provider, card, mode, amount, by }) => {
    const ask = askOf(mode, card.id);
    const name = by.slice(OPTION.length);
    if (by === 'diarization') ask.diarization = true;
    else if (by.startsWith('language=')) ask.language = by.slice('language='.length);
    else {
      const model = card.id.slice(provider.name.length + 1);
      ask.providerParams = { [name]: sampleOf(provider.options(model).properties[name] as object) };
    }
    const [plain] = await membersOf(askOf(mode, card.id));
    const [asked] = await membersOf(ask);
    // One that no request can ask for would never be charged.
    expect(asked!.degradations.filter(({ code }) => code === 'parameter_ignored')).toEqual([]);
    expect(asked!.price.microUsd - plain!.price.microUsd).toBe(microUsdOf(amount));
    expect(asked!.price).not.toHaveProperty('addOns');
  });

  it('exist', () => {
    expect(rows.length).toBeGreaterThan(5);
  });
});

describe('an add-on', () => {
  const price = {
    ...{ unit: 'minute' as const, microUsd: 100n, minimumMicroUsd: 0n },
    addOns: [{ name: 'A', microUsd: 7n, asked_by: ['diarization', 'provider_params.a'] }],
  };
  const plain = { language: undefined, diarization: false, params: {} };

  it.each<[string, Partial<Parameters<typeof priceWith>[1]>, bigint]>([
    ['nothing', {}, 100n],
    ['a member', { diarization: true }, 107n],
    ['an option', { params: { a: 'x' } }, 107n],
    ['both, once', { diarization: true, params: { a: true } }, 107n],
    ['an option that is off', { params: { a: false } }, 100n],
    ['an empty list', { params: { a: [] } }, 100n],
    ['another language', { language: 'auto' }, 100n],
  ])('costs extra for %s', (_, asked, microUsd) => {
    expect(priceWith(price, { ...plain, ...asked })).toEqual({ unit: 'minute', microUsd, minimumMicroUsd: 0n });
  });

  it('raises a minimum in proportion, which is a number of seconds at the price', () => {
    const { minimumMicroUsd } = priceWith({ ...price, minimumMicroUsd: 25n }, { ...plain, diarization: true });
    expect(minimumMicroUsd).toBe(27n);
  });

  const MODEL = 'deepgram/nova-3';
  const spoken = { ...askOf('live', MODEL), diarization: true };
  const microUsdWith = async (...more: [object?, string?]) => (await membersOf(spoken, ...more))[0]?.price.microUsd;

  it('includes the margin, and applies on top of an operator’s price unless excluded', async () => {
    expect(await microUsdWith({}, '10')).toBe(8_470n + 2_200n);
    const of = (live: object) => ({ [MODEL]: { live } });
    expect(await microUsdWith(of({ unit: 'minute', amount: '0.001' }))).toBe(3_000n);
    expect(await microUsdWith(of({ unit: 'minute', amount: '0.001', add_ons: [] }))).toBe(1_000n);
    expect(await microUsdWith(of({ unit: 'session', amount: '0.001' }))).toBe(1_000n);
    expect(await microUsdWith(of({ unit: 'minute', amount: '0', free: true }))).toBe(0n);
  });

  it('costs only the candidate that requests it, when a model appears twice', async () => {
    const ask = { ...askOf('live', MODEL), fallbacks: [{ model: MODEL, provider_params: { keyterm: ['Voxgate'] } }] };
    expect((await membersOf(ask)).map(({ price: { microUsd } }) => microUsd)).toEqual([7_700n, 9_000n]);
  });

  it('costs nothing with an own key', () => {
    expect(priceWith(FREE, { ...plain, diarization: true }).microUsd).toBe(0n);
  });

  it('appears with the price, and in the version of the list', () => {
    const list = createPriceList(providers, {}, '100');
    expect(list.shown(MODEL).live?.add_ons).toContainEqual(
      expect.objectContaining({ amount: '0.0026', asked_by: ['provider_params.keyterm'] }),
    );
    const without = { [MODEL]: { live: { unit: 'minute' as const, amount: '0.0077', add_ons: [] } } };
    expect(createPriceList(providers, without).version).not.toBe(createPriceList(providers).version);
  });
});
