// Prices in force: catalogue, the operator's file and the margin; what is refused, and what is not priced.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Model, Price } from '../../../src/api/models.ts';
import { microUsdOf, usdOf } from '../../../src/config/prices/price.ts';
import { createPriceList, type PricedCard, PriceListError } from '../../../src/config/prices/price-list.ts';
import { readPriceOverrides } from '../../../src/config/prices/read-price-list.ts';
import { providers } from '../../../src/vendors/index.ts';

const minute = (amount: string, more: Partial<Price> = {}): Price => ({
  unit: 'minute',
  amount,
  byok: '0.00',
  ...more,
});
const FREE = minute('0', { free: true });

const card = (id: string, pricing: Omit<Model['pricing'], 'currency'>, modes: Model['modes'] = ['batch', 'live']) =>
  ({ id, modes, pricing: { currency: 'USD', ...pricing } }) satisfies PricedCard;

const catalogue = (...models: PricedCard[]) => [{ models }];
const ASR = catalogue(
  card('asr/one', { batch: minute('0.004'), live: minute('0.0058', { minimum: '0.01' }) }),
  card('asr/two', { live: { unit: 'session', amount: '0.15', byok: '0.00' } }, ['live']),
  card('asr/free', { batch: FREE, live: FREE }),
);

const file = (content: unknown) => readPriceOverrides(JSON.stringify(content));

describe('the catalogue of this build', () => {
  it('contains a price for every mode of every model, and charges what it shows', () => {
    const prices = createPriceList(providers);
    for (const { id, modes, pricing } of providers.flatMap(({ models }) => models)) {
      for (const mode of modes) {
        const shown = prices.shown(id)[mode];
        expect(microUsdOf(shown!.amount), `${id} ${mode}`).toBe(prices.priceOf(id, mode)?.microUsd);
        expect(Number(shown!.amount), `${id} ${mode}`).toBe(Number(pricing[mode]!.amount));
        expect(shown!.byok).toBe('0.00');
      }
      expect(Object.keys(prices.shown(id)).sort()).toEqual([...modes, 'currency'].sort());
    }
  });
});

describe('a price', () => {
  it('depends on the mode, in whole micro-USD, with its minimum', () => {
    const prices = createPriceList(ASR);
    expect(prices.priceOf('asr/one', 'batch')).toEqual({ unit: 'minute', microUsd: 4_000n, minimumMicroUsd: 0n });
    expect(prices.priceOf('asr/one', 'live')).toEqual({ unit: 'minute', microUsd: 5_800n, minimumMicroUsd: 10_000n });
    expect(prices.priceOf('asr/two', 'live')).toEqual({ unit: 'session', microUsd: 150_000n, minimumMicroUsd: 0n });
    expect(prices.priceOf('asr/free', 'live')).toEqual({ unit: 'minute', microUsd: 0n, minimumMicroUsd: 0n });
    expect(prices.shown('asr/one').live).toEqual(minute('0.0058', { minimum: '0.01' }));
    expect(prices.shown('asr/free').batch).toEqual(minute('0.00', { free: true }));
  });

  it('stays metered by the connection at any price of a minute, and not at a price of the session', () => {
    const metered = catalogue(card('asr/live', { live: minute('0.01', { metered: 'connection' }) }, ['live']));
    const liveOf = (price?: object) =>
      createPriceList(metered, price === undefined ? {} : file({ 'asr/live': { live: price } }), '10');
    const shown = [liveOf(), liveOf({ unit: 'minute', amount: '0.02' }), liveOf({ unit: 'session', amount: '1' })];
    expect(shown.map((list) => list.shown('asr/live').live?.metered)).toEqual(['connection', 'connection', undefined]);
    expect(shown.map((list) => list.priceOf('asr/live', 'live')?.metered)).toEqual([
      'connection',
      'connection',
      undefined,
    ]);
    const audioOnly = createPriceList(catalogue(card('asr/live', { live: minute('0.01') }, ['live'])), {}, '10');
    expect(audioOnly.version).not.toBe(liveOf().version);
  });

  it.each([
    ['a mode the model lacks', 'asr/two', 'batch'],
    ['an unknown model', 'asr/three', 'live'],
    ['a model named like a method', 'constructor', 'live'],
  ] as const)('does not exist for %s', (_, slug, mode) => {
    const prices = createPriceList(ASR);
    expect(prices.priceOf(slug, mode)).toBeUndefined();
    expect(prices.shown(slug)).not.toHaveProperty(mode);
  });

  it('does not exist for a mode that the catalogue lists without a price', () => {
    const prices = createPriceList(catalogue(card('asr/one', { batch: minute('0.1') })));
    expect(prices.priceOf('asr/one', 'live')).toBeUndefined();
    expect(prices.shown('asr/one')).toEqual({ currency: 'USD', batch: minute('0.10') });
  });
});

describe("the operator's prices", () => {
  it('replace those they name, take away those that are null and leave the others', () => {
    const prices = createPriceList(
      ASR,
      file({
        'asr/one': { live: { unit: 'minute', amount: '0.0060', minimum: '0.02' }, batch: null },
        'asr/free': { live: { unit: 'session', amount: '1' } },
      }),
    );
    expect(prices.shown('asr/one')).toEqual({ currency: 'USD', live: minute('0.006', { minimum: '0.02' }) });
    expect(prices.priceOf('asr/one', 'batch')).toBeUndefined();
    expect(prices.shown('asr/free')).toEqual({
      currency: 'USD',
      batch: minute('0.00', { free: true }),
      live: { unit: 'session', amount: '1.00', byok: '0.00' },
    });
    expect(prices.shown('asr/two')).toEqual(createPriceList(ASR).shown('asr/two'));
  });

  it.each<[string, string, ...string[]]>([
    ['text that is not JSON', 'asr', 'no valid JSON'],
    ['a list', '[]', 'no JSON object'],
    ['a number for a model', '{"asr/one": 1}', '"asr/one"', 'batch and live'],
    ['an unknown mode', '{"asr/one": {"stream": null}}', '"stream"', '"asr/one"', 'batch and live'],
    ['a text for a price', '{"asr/one": {"live": "0.1"}}', 'live of "asr/one"', '"0.1"', 'unit, amount, minimum, free'],
    ['an unknown member', '{"asr/one": {"live": {"amout": "1"}}}', '"amout"', 'live of "asr/one"', 'unit, amount'],
    ['a method as a member', '{"asr/one": {"live": {"__proto__": 1}}}', '"__proto__"', 'live of "asr/one"'],
    ['a missing unit', '{"asr/one": {"live": {"amount": "1"}}}', 'unit in live of "asr/one" is missing'],
    ['an unknown unit', '{"asr/one": {"live": {"unit": "hour", "amount": "1"}}}', '"hour"', '"minute" or "session"'],
    ['an amount as a number', '{"asr/one": {"live": {"unit": "minute", "amount": 0.1}}}', 'is 0.1', 'decimal text'],
    ['a null amount', '{"asr/one": {"live": {"unit": "minute", "amount": null}}}', 'is null', 'decimal text'],
    ['free as a text', '{"asr/one": {"live": {"unit": "minute", "amount": "0", "free": "yes"}}}', 'true or false'],
  ])('fail in one sentence with their position: %s', (_, text, ...words) => {
    const message = refusal(() => readPriceOverrides(text));
    for (const word of words) expect(message).toContain(word);
  });

  it.each<[string, unknown, ...string[]]>([
    ['an unknown model', { 'asr/on': {} }, '"asr/on"', 'the nearest is asr/one'],
    ['a model named like a method', JSON.parse('{"__proto__": {}}'), '"__proto__"'],
    ['a mode that the model lacks', { 'asr/two': { batch: null } }, 'asr/two', 'no batch mode', 'live'],
  ])('fail when they do not fit the catalogue: %s', (_, content, ...words) => {
    const message = refusal(() => createPriceList(ASR, file(content)));
    for (const word of words) expect(message).toContain(word);
  });
});

/** Prices that must not be served, wherever they are written. */
const BAD: [string, Record<string, unknown>, ...string[]][] = [
  ['negative', { amount: '-0.01' }, 'amount', '"-0.01"'],
  ['NaN', { amount: 'NaN' }, '"NaN"'],
  ['infinite', { amount: 'Infinity' }, '"Infinity"'],
  ['with an exponent', { amount: '1e-3' }, '"1e-3"'],
  ['with seven places', { amount: '0.0000001' }, 'at most six places'],
  ['with a comma', { amount: '0,01' }, '"0,01"'],
  ['empty', { amount: '' }, '""'],
  ['with a space', { amount: ' 1' }, '" 1"'],
  ['too much for a minute', { amount: '10000.000001' }, '10000'],
  ['zero by mistake', { amount: '0.000000' }, '"free": true'],
  ['zero with free false', { amount: '0', free: false }, '"free": true'],
  ['free with a price', { amount: '0.01', free: true }, 'free'],
  ['free with a minimum', { amount: '0', minimum: '0.01', free: true }, 'free'],
  ['with a negative minimum', { amount: '0.01', minimum: '-1' }, 'minimum', '"-1"'],
  ['by the session with a minimum', { unit: 'session', amount: '0.01', minimum: '1' }, 'session'],
];

describe('a price that cannot be charged', () => {
  it.each(BAD)('fails in the catalogue: %s', (_, price, ...words) => {
    const bad = { ...minute('1'), ...price } as Price;
    const message = refusal(() => createPriceList(catalogue(card('asr/bad', { live: bad }))));
    for (const word of ['asr/bad', 'live', ...words]) expect(message).toContain(word);
  });

  it.each(BAD)("fails in the operator's file: %s", (_, price, ...words) => {
    const content = { 'asr/one': { batch: { unit: 'minute', ...price } } };
    const message = refusal(() => createPriceList(ASR, file(content)));
    for (const word of ['asr/one', 'batch', ...words]) expect(message).toContain(word);
  });

  it('fails with a unit other than minute or session, and for a missing mode', () => {
    const hour = { ...minute('1'), unit: 'hour' } as unknown as Price;
    expect(refusal(() => createPriceList(catalogue(card('asr/a', { live: hour }))))).toContain('minute or session');
    const lacking = card('asr/a', { live: minute('1') }, ['batch']);
    expect(refusal(() => createPriceList(catalogue(lacking)))).toContain('no such mode');
  });
});

describe('the margin', () => {
  it('adds to amounts and minimums of every price that is not free', () => {
    const prices = createPriceList(ASR, file({ 'asr/one': { batch: { unit: 'minute', amount: '0.01' } } }), '12.5');
    expect(prices.shown('asr/one')).toEqual({
      currency: 'USD',
      batch: minute('0.01125'),
      live: minute('0.006525', { minimum: '0.01125' }),
    });
    expect(prices.shown('asr/two').live?.amount).toBe('0.16875');
    expect(prices.shown('asr/free').live).toEqual(minute('0.00', { free: true }));
  });

  it.each([
    ['0.000001', '49.9999', '0.000001'],
    ['0.000001', '50', '0.000002'],
    ['0.000003', '50', '0.000005'],
    ['0.000003', '49.9999', '0.000004'],
    ['0.0043', '0', '0.0043'],
    ['10000', '1000', '110000.00'],
  ])('rounds %s with %s %% half-up to %s', (amount, margin, wanted) => {
    const prices = createPriceList(catalogue(card('asr/one', { live: minute(amount) })), {}, margin);
    expect(prices.shown('asr/one').live?.amount).toBe(wanted);
  });

  it('stays exact to half a micro-USD for any amount and percentage', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10_000_000_000n), fc.integer({ min: 0, max: 10_000_000 }), (micro, parts) => {
        const margin = `${Math.floor(parts / 10_000)}.${String(parts % 10_000).padStart(4, '0')}`;
        const prices = createPriceList(catalogue(card('asr/one', { live: minute(usdOf(micro)) })), {}, margin);
        const error = prices.priceOf('asr/one', 'live')!.microUsd * 1_000_000n - micro * (1_000_000n + BigInt(parts));
        expect(error > -500_000n && error <= 500_000n).toBe(true);
      }),
      { seed: 68, numRuns: 500 },
    );
  });

  it.each(['-1', '1000.0001', '1001', '5%', '', '1e2', '0.00001', 'NaN'])('fails as "%s"', (margin) => {
    expect(refusal(() => createPriceList(ASR, {}, margin))).toContain(JSON.stringify(margin));
  });
});

describe('the version', () => {
  const version = (...args: Parameters<typeof createPriceList>) => createPriceList(...args).version;

  it('stays the same for the same prices, in any order and format', () => {
    const wanted = version(ASR);
    expect(wanted).toMatch(/^[0-9a-f]{12}$/);
    expect(version([{ models: [...ASR[0]!.models].reverse() }])).toBe(wanted);
    expect(version(ASR, file({ 'asr/one': { batch: { unit: 'minute', amount: '0.004000' } } }), '0.0')).toBe(wanted);
  });

  it('changes when any price changes', () => {
    const versions = [
      version(ASR),
      version(ASR, {}, '0.01'),
      version(ASR, file({ 'asr/one': { batch: null } })),
      version(ASR, file({ 'asr/one': { batch: { unit: 'session', amount: '0.004' } } })),
      version(ASR, file({ 'asr/one': { batch: { unit: 'minute', amount: '0.004', minimum: '0.000001' } } })),
      version(ASR, file({ 'asr/one': { batch: { unit: 'minute', amount: '0.004001' } } })),
    ];
    expect(new Set(versions).size).toBe(versions.length);
  });
});

/** The one sentence of a refusal. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(PriceListError);
    expect((error as Error).message).toMatch(/^[^\n]+\.$/);
    return (error as Error).message;
  }
  throw new Error('Nothing was refused.');
}
