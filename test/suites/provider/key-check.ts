// What holds of every provider that needs a key: it can be asked about one, cheaply, and tells a bad key from a busy day.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mode } from '../../../src/api/models.ts';
import { modelOf } from '../../../src/api/slug.ts';
import { checkCredential } from '../../../src/live/upstream/credential-check.ts';
import { HttpPools } from '../../../src/live/upstream/http/pools.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import type { CredentialCheck, Provider } from '../../../src/vendors/kit/provider.ts';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { isHttp } from './options.ts';
import { simulatedFiles } from './simulated-files.ts';
import { playLeg } from './simulated-leg.ts';

/** What a provider refuses keys for, and whose fault that may be. */
const REFUSED = [
  ['bad-key', /^account /],
  ['broke-key', /^account /],
  ['limited-key', /^next /],
] as const;

export function testRefusedKeys(provider: Provider, simulator: ProviderSimulator, sampleRate = 16_000): void {
  const { batch, models, name } = provider;
  const modelFor = (mode: Mode) =>
    models.find(({ modes, live_turns }) => modes.includes(mode) && (mode === 'batch' || live_turns !== 'gateway'));

  describe(`${name} simulated: a key that is refused`, () => {
    const live = provider.live && modelFor('live');
    if (live !== undefined)
      it.each(REFUSED)('ends a leg: %s', async (credential, failure) => {
        const { end } = await playLeg({
          ...{ provider, simulator, model: modelOf(live.id), sampleRate, seconds: 1, credential },
        });
        expect(end).toMatch(failure);
      });

    const file = isHttp(batch) && modelFor('batch');
    if (file)
      it.each(REFUSED)('fails a file: %s', async (credential, failure) => {
        const last = await simulatedFiles(batch, simulator)(file.id, credential);
        expect(last.type === 'failed' ? `${last.failure.kind} ${last.failure.code}` : last.type).toMatch(failure);
      });
  });
}

export function testKeyCheck(provider: Provider, simulator: ProviderSimulator): void {
  const check = provider.credentialCheck as CredentialCheck;

  describe(`${provider.name} key check`, () => {
    const pools = new HttpPools();
    let server: SimulatorServer;

    beforeAll(async () => {
      server = await SimulatorServer.start({ simulator, ear: scriptEar({ turns: [] }) });
    });

    afterAll(async () => {
      await pools.close();
      await server.close();
    });

    it.each([
      ['a-good-key', 'accepted'],
      ['bad-key', 'refused'],
      ['limited-key', 'unknown'],
    ])('says of %s: %s', async (credential, verdict) => {
      const access = { baseUrl: server.url, credential };
      expect(await checkCredential(provider, access, { pools, clock: systemClock })).toBe(verdict);
    });

    it('sends the key in a header of the request alone, to the address that is configured', () => {
      const access = { baseUrl: 'http://here.test/below', credential: 'canary-key' };
      const { url, headers } = check.request(access, 0);
      expect(url).toMatch(/^http:\/\/here\.test\/below\//);
      expect([url.includes('canary'), JSON.stringify(headers).includes('canary-key')]).toEqual([false, true]);
      expect(new URL(check.request({ ...access, baseUrl: undefined }, 0).url).protocol).toBe('https:');
    });

    it.each([204, 301, 400, 403, 404, 429, 500, 503])('learns nothing from HTTP %i', (status) => {
      expect(check.verdict({ status, headers: {}, body: '' })).toBe('unknown');
    });
  });
}
