// The test calls of the providers, against their simulators on real sockets: good keys, bad keys, and answers that say nothing
// of the key.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { providers } from '../../src/providers/index.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { simulators } from '../../src/providers/simulators.ts';
import { scriptEar } from '../../src/simulator/ears.ts';
import { SimulatorServer } from '../../src/simulator/server.ts';
import { systemClock } from '../../src/telemetry/clock.ts';
import { checkCredential } from '../../src/upstream/credential-check.ts';
import { HttpPools } from '../../src/upstream/http/pools.ts';

const KEYED = ['deepgram', 'assemblyai', 'openai'];
const servers = new Map<string, SimulatorServer>();
const pools = new HttpPools();

const providerOf = (name: string): Provider => providers.find((each) => each.name === name)!;
const check = (name: string, credential: string, baseUrl = servers.get(name)?.url) =>
  checkCredential(providerOf(name), { baseUrl, credential }, { pools, clock: systemClock });

beforeAll(async () => {
  for (const name of KEYED) {
    const simulator = simulators.find(({ provider }) => provider === name)!;
    servers.set(
      name,
      await SimulatorServer.start({ simulator, ear: scriptEar({ turns: [] }), clock: systemClock, faults: [] }),
    );
  }
});

afterAll(async () => {
  await pools.close();
  for (const server of servers.values()) await server.close();
});

it('every provider that needs a key can be asked about one', () => {
  const keyed = providers.filter(({ credential }) => credential === 'required');
  expect(keyed.map(({ name }) => name)).toEqual(KEYED);
  for (const { credentialCheck } of keyed) expect(credentialCheck).toBeDefined();
});

describe.each(KEYED)('%s', (name) => {
  it.each([
    ['a-good-key', 'accepted'],
    ['bad-key', 'refused'],
    ['limited-key', 'unknown'],
  ])('says of %s: %s', async (key, verdict) => {
    expect(await check(name, key)).toBe(verdict);
  });

  it('sends the key in a header of the request alone, to the address that is configured', () => {
    const access = { baseUrl: 'http://here.test/below', credential: 'canary-key' };
    const { url, headers } = providerOf(name).credentialCheck!.request(access);
    expect(url).toMatch(/^http:\/\/here\.test\/below\//);
    expect([url.includes('canary'), JSON.stringify(headers).includes('canary-key')]).toEqual([false, true]);
    expect(new URL(providerOf(name).credentialCheck!.request({ ...access, baseUrl: undefined }).url).protocol).toBe(
      'https:',
    );
  });

  it.each([204, 301, 400, 403, 404, 429, 500, 503])('learns nothing from HTTP %i', (status) => {
    expect(providerOf(name).credentialCheck!.verdict({ status, headers: {}, body: '' })).toBe('unknown');
  });
});

it('a restricted OpenAI key that may not list models is no bad key', () => {
  const body = JSON.stringify({
    error: { message: 'You have insufficient permissions. Missing scopes: api.model.read.' },
  });
  const { verdict } = providerOf('openai').credentialCheck!;
  expect(verdict({ status: 401, headers: {}, body })).toBe('unknown');
  expect(verdict({ status: 401, headers: {}, body: '{"error":{"code":"invalid_api_key"}}' })).toBe('refused');
});

describe('nothing is learnt', () => {
  it('of a provider without such a request', async () => {
    expect(await checkCredential({}, { baseUrl: undefined, credential: 'key' }, { pools, clock: systemClock })).toBe(
      'unknown',
    );
  });

  it('where nobody listens', async () => {
    expect(await check('deepgram', 'key', 'http://127.0.0.1:9')).toBe('unknown');
  });

  it('of a key that cannot stand in a header, and nothing is thrown', async () => {
    expect(await check('deepgram', 'key\r\nother: 1')).toBe('unknown');
  });

  it.each([
    ['never answers', ''],
    ['answers without an end', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n'],
  ])('of a provider that takes the request and %s, after ten seconds', async (_, beginning) => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => {}));
      socket.once('data', () => {
        socket.write(beginning);
        server.emit('asked');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const clock = new SimulatedClock();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const asked = once(server, 'asked');
    const verdict = checkCredential(providerOf('openai'), { baseUrl: url, credential: 'key' }, { pools, clock });
    await asked;
    // A byte now and then keeps an answer going, but not a test.
    for (let time = 0; time < 2; time++) {
      clock.increment(5_000);
      if (beginning !== '') await written(sockets[0]!, '{');
    }
    expect(await verdict).toBe('unknown');
    expect((Reflect.get(clock, 'timeouts') as Map<unknown, unknown>).size).toBe(0);
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
});

/** Resolves when the other end, in this process, has had its turns to read it. */
async function written(socket: Socket, text: string): Promise<void> {
  await new Promise<void>((resolve) => socket.write(text, () => resolve()));
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}
