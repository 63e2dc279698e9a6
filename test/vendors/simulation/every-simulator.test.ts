// What holds of every simulator, as the host and its faults count on it.
import { afterEach, describe, expect, it } from 'vitest';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { Client, closeAll, serve } from './client.ts';

afterEach(closeAll);

describe.each(simulators.map((simulator) => [simulator.provider, simulator] as const))('%s', (_, simulator) => {
  it.each([400, 401, 402, 403, 404, 413, 429, 500, 503, 504])('refuses with %i in its own words', (status) => {
    const answer = simulator.refusal(status);
    expect(answer.status).toBe(status);
    expect(answer.body).toBeTruthy();
  });

  it('closes with a reason that fits into a close frame', () => {
    expect(Buffer.byteLength(simulator.failure().close.reason)).toBeLessThanOrEqual(123);
  });

  it('does not find a path that it does not have, for requests and sockets', async () => {
    const { url } = await serve({ simulator, ear: scriptEar() });
    const socket = await new Client(`${url}/elsewhere`, { authorization: 'Bearer good' }).refused;
    // With a scheme before the key, or without one.
    const requests = await Promise.all(
      ['Bearer good', 'good'].map((authorization) => fetch(`${url}/elsewhere`, { headers: { authorization } })),
    );
    expect([socket.status, requests.map(({ status }) => status)]).toEqual([404, expect.arrayContaining([404])]);
  });

  it('describes each of its quirks in one line', () => {
    for (const about of Object.values(simulator.quirks)) expect(about).toMatch(/^[^\n]{10,}$/);
  });
});
