// The settings of prices, and what an operator reads when a price list cannot be used.
import { expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { loadPriceList } from '../../src/config/prices/read-price-list.ts';
import { providers } from '../../src/vendors/index.ts';

const settings = (env: Record<string, string> = {}) =>
  loadConfig(env, { providers: providers.map(({ name }) => name) }).billing;

function load(env: Record<string, string>, files: Record<string, string> = {}) {
  return loadPriceList(providers, settings(env), (path) => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error('none'), { code: 'ENOENT' });
    return text;
  });
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('Nothing was refused.');
}

it('default to no margin and no separate file', () => {
  expect(settings()).toMatchObject({ pricesFile: undefined, marginPercent: '0' });
});

it('charges by the file, with the margin on top', () => {
  const files = {
    'p.json': '\uFEFF{"deepgram/nova-3": {"live": {"unit": "minute", "amount": "0.01"}, "batch": null}}',
  };
  const prices = load({ VOXGATE_PRICES_FILE: 'p.json', VOXGATE_MARGIN_PERCENT: '20' }, files);
  expect(prices.shown('deepgram/nova-3')).toMatchObject({
    currency: 'USD',
    live: { unit: 'minute', amount: '0.012', byok: '0.00' },
  });
  expect(prices.version).not.toBe(load({}).version);
});

it.each(['0', '0.5', '12.3456', '999.9999', '1000', '1000.0'])('takes a margin of %s', (margin) => {
  expect(settings({ VOXGATE_MARGIN_PERCENT: margin }).marginPercent).toBe(margin);
  load({ VOXGATE_MARGIN_PERCENT: margin });
});

it.each(['-1', '1000.1', '1001', '10%', '1e2', '0.00001', '.5', '5.', 'ten'])('refuses a margin of %s', (margin) => {
  const message = refusal(() => settings({ VOXGATE_MARGIN_PERCENT: margin }));
  expect(message).toMatch(
    /^VOXGATE_MARGIN_PERCENT \(billing\.marginPercent\) is "[^"]+"; it is [^\n]*0 to 1000[^\n]*\.$/,
  );
});

it.each<[string, Record<string, string>, ...string[]]>([
  ['is not there', {}, 'ENOENT'],
  ['is not JSON', { 'p.json': '{' }, 'no valid JSON'],
  ['has an unknown model', { 'p.json': '{"deepgram/nova-33": {}}' }, '"deepgram/nova-33"', 'deepgram/nova-3'],
  [
    'has an unknown member',
    { 'p.json': '{"deepgram/nova-3": {"live": {"price": "1"}}}' },
    '"price"',
    'deepgram/nova-3',
  ],
  [
    'gives a model away by mistake',
    { 'p.json': '{"deepgram/nova-3": {"live": {"unit": "minute", "amount": "0"}}}' },
    'deepgram/nova-3 (live)',
    '"free": true',
  ],
])('names the variable and the file in one sentence when it %s', (_, files, ...words) => {
  const message = refusal(() => load({ VOXGATE_PRICES_FILE: 'p.json' }, files));
  expect(message).toMatch(/^VOXGATE_PRICES_FILE \(billing\.pricesFile\) names "p\.json", which [^\n]*\.$/);
  for (const word of words) expect(message).toContain(word);
});

it('refuses a catalogue with a wrong price, for any file', () => {
  const models = [
    {
      id: 'asr/one',
      modes: ['live' as const],
      pricing: { currency: 'USD' as const, live: { unit: 'minute' as const, amount: '0', byok: '0.00' as const } },
    },
  ];
  const billing = { pricesFile: 'p.json', marginPercent: '0' };
  const message = refusal(() => loadPriceList([{ models }], billing, () => '{"asr/one": {"live": null}}'));
  expect(message).toMatch(/^The catalogue of this build cannot be used: asr\/one \(live\) [^\n]*\.$/);
});
