// What holds of every provider that needs a key: it can be asked about one, cheaply, and tells a bad key from a busy day.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CredentialCheck, Provider } from '../../../src/providers/provider.ts';
import type { ProviderSimulator } from '../../../src/providers/simulation.ts';
import { scriptEar } from '../../../src/simulator/ears.ts';
import { SimulatorServer } from '../../../src/simulator/server.ts';
import { systemClock } from '../../../src/telemetry/clock.ts';
import { checkCredential } from '../../../src/upstream/credential-check.ts';
import { HttpPools } from '../../../src/upstream/http/pools.ts';

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
