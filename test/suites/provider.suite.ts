// What every provider promises, proven of the one whose fixtures are given: of its catalogue, options, codecs and failures, and
// of its simulator where it has one. A folder of test/vendors calls this, and adds what is special of its provider.
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { Model } from '../../src/api/models.ts';
import { providers } from '../../src/vendors/index.ts';
import type { Provider } from '../../src/vendors/kit/provider.ts';
import { simulators } from '../../src/vendors/simulators.ts';
import { testBatch } from './provider/batch.ts';
import type { ProviderFixtures } from './provider/fixtures.ts';
import { testKeyCheck, testRefusedKeys } from './provider/key-check.ts';
import { testLive } from './provider/live.ts';
import { isHttp, testOptions } from './provider/options.ts';
import { testRefusals } from './provider/refusals.ts';
import { testSimulated } from './provider/simulated.ts';
import { testSimulatedFiles } from './provider/simulated-files.ts';
import { testRules } from './provider/simulated-rules.ts';

export function testProvider(fixtures: ProviderFixtures): void {
  const provider = providers.find(({ name }) => name === fixtures.provider);
  if (provider === undefined) throw new Error(`There is no provider ${fixtures.provider} in src/vendors/index.ts.`);
  const simulator = simulators.find((each) => each.provider === provider.name);
  testCatalogue(provider);
  testOptions(provider, fixtures);
  if (provider.live !== undefined) testLive(provider, neededOf(fixtures, 'live'), simulator?.encode);
  testRefusals(provider, fixtures);
  if (isHttp(provider.batch)) testBatch(provider.name, provider.batch, neededOf(fixtures, 'batch'));
  if (simulator !== undefined) {
    if (provider.live !== undefined) testSimulated(provider, simulator, neededOf(fixtures, 'live'), fixtures.simulated);
    if (isHttp(provider.batch)) testSimulatedFiles(provider, provider.batch, simulator);
    if (fixtures.simulated?.rules !== undefined) testRules(simulator, fixtures.simulated.rules);
  }
  if (provider.credential === 'none') return;
  if (simulator === undefined || provider.credentialCheck === undefined)
    throw new Error(`${provider.name} needs a key: it has to have a simulator, and a request that tries a key.`);
  testRefusedKeys(provider, simulator, fixtures.live?.sampleRate);
  testKeyCheck(provider, simulator);
}

function neededOf<Part extends 'live' | 'batch'>(fixtures: ProviderFixtures, part: Part) {
  const found = fixtures[part];
  if (found === undefined) throw new Error(`${fixtures.provider} has a codec of that, and no fixtures: ${part}.`);
  return found as NonNullable<ProviderFixtures[Part]>;
}

function testCatalogue({ name, models }: Provider): void {
  describe(`${name} catalogue`, () => {
    it.each(models.map((card) => [card.id, card] as const))(
      '%s is a whole row, with a price for each mode',
      (id, card) => {
        const { priceSource, ...shown } = card;
        const state = { object: 'model', owned_by: name, provider_params: {}, available: true, status: 'up' };
        expect([...Value.Errors(Model, { ...shown, ...state })]).toEqual([]);
        expect(id).toMatch(new RegExp(`^${name}/[a-z0-9._-]+$`));
        const { currency: _, ...prices } = card.pricing;
        expect(Object.keys(prices).sort()).toEqual([...card.modes].sort());
        for (const price of Object.values(prices)) expect(Number(price?.amount) > 0 || price?.free === true).toBe(true);
        expect(priceSource.date).toMatch(/^\d{4}-\d\d-\d\d$/);
        expect(priceSource.url).not.toBe('');
      },
    );
  });
}
