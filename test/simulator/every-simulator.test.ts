// What holds of every simulator, as the host and its faults count on it.
import { afterEach, describe, expect, it } from 'vitest';
import { simulators } from '../../src/providers/simulators.ts';
import { scriptEar } from '../../src/simulator/ears.ts';
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

  it('refuses a path that it does not have, for requests and sockets', async () => {
    const { url } = await serve({ simulator, ear: scriptEar() });
    const authorization = 'Bearer good';
    const [request, socket] = await Promise.all([
      fetch(`${url}/elsewhere`, { headers: { authorization } }),
      new Client(`${url}/elsewhere`, { authorization }).refused,
    ]);
    expect([request.status >= 400, socket.status >= 400]).toEqual([true, true]);
  });

  it('has one line on each of its quirks', () => {
    for (const about of Object.values(simulator.quirks)) expect(about).toMatch(/^[^\n]{10,}$/);
  });
});
