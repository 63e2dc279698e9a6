// What the host of a key check learns where the provider cannot be asked, or does not answer as it should. What each provider
// says of keys is proven by the suite of every provider.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { checkCredential } from '../../../src/live/upstream/credential-check.ts';
import { HttpPools } from '../../../src/live/upstream/http/pools.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { providers } from '../../../src/vendors/index.ts';
import type { Provider } from '../../../src/vendors/kit/provider.ts';

const pools = new HttpPools();
const keyed = providers.filter(({ credential }) => credential === 'required');
const [first] = keyed as [Provider];
const check = (credential: string, baseUrl: string) =>
  checkCredential(first, { baseUrl, credential }, { pools, clock: systemClock });

afterAll(() => pools.close());

describe('a check with an unknown verdict', () => {
  it('covers a provider without such a request', async () => {
    expect(await checkCredential({}, { baseUrl: undefined, credential: 'key' }, { pools, clock: systemClock })).toBe(
      'unknown',
    );
  });

  it('covers a server that is down', async () => {
    expect(await check('key', 'http://127.0.0.1:9')).toBe('unknown');
  });

  it('covers a key that no header can carry, without a throw', async () => {
    expect(await check('key\r\nother: 1', 'http://127.0.0.1:9')).toBe('unknown');
  });

  it.each([
    ['never answers', ''],
    ['answers without an end', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n'],
  ])('covers a provider that accepts the request and %s, after ten seconds', async (_, beginning) => {
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
    const verdict = checkCredential(first, { baseUrl: url, credential: 'key' }, { pools, clock });
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
