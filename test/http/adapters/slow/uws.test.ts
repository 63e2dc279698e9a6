// The suite of the server adapters, on uWebSockets.js.
import { describe, expect, test } from 'vitest';
import { loadUws } from '../../../../src/http/uws/library.ts';
import { openUwsServer } from '../../../../src/http/uws/server.ts';
import {
  type AdapterUnderTest,
  echoHandlers,
  http,
  nextMessage,
  rawSocket,
  start,
  webSocket,
} from '../../../suites/server-adapter/fixture.ts';
import { UWS_GAPS } from '../../../suites/server-adapter/gaps.ts';
import { serverAdapterSuite } from '../../../suites/server-adapter.suite.ts';

/** Why the library does not load, which is no fault: not every machine has a binary (musl, or a glibc before 2.36). */
function reasonAgainst(): string | undefined {
  try {
    loadUws();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('uWebSockets.js', () => {
  const reason = reasonAgainst();
  if (reason !== undefined) {
    console.warn(`uWebSockets.js is not tested: ${reason}`);
    // As said above.
    test.skip('cannot load a binary here', () => {});
    return;
  }
  const under: AdapterUnderTest = { open: openUwsServer, gaps: UWS_GAPS };
  serverAdapterSuite(under);

  test('closes an incomplete head without an answer (known gap)', async () => {
    const { port } = await start(under, { request: () => Promise.reject(new Error('reached')) });
    const socket = await rawSocket(port);
    socket.write('GET / HTTP/1.1\r\nX-Slow: ');
    await expect(socket.reply()).rejects.toThrow();
    await socket.closed;
  });

  test('keeps two thousand handshakes open that are decided later', async () => {
    const { port } = await start(under, {
      upgrade: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return { accept: echoHandlers };
      },
    });
    for (let round = 0; round < 100; round++) {
      const sockets = await Promise.all(Array.from({ length: 20 }, () => webSocket(port)));
      const answers = sockets.map(nextMessage);
      for (const socket of sockets) socket.send('here');
      expect(new Set(await Promise.all(answers))).toEqual(new Set(['here']));
      for (const socket of sockets) socket.close();
    }
  });

  // Elsewhere the option exists and gives all connections to one of them.
  test.skipIf(process.platform !== 'linux')('spreads connections over all servers that share a port', async () => {
    const bodies = (body: string) => ({ request: async () => ({ status: 200, body }) });
    const { port, server } = await start(under, bodies('first'), { shared: true });
    await start(under, bodies('second'), { port, shared: true });
    const heard = new Set<string>();
    for (let request = 0; request < 200 && heard.size < 2; request++) heard.add((await http(port, '/')).body);
    expect([...heard].sort()).toEqual(['first', 'second']);
    await server.close();
    expect((await http(port, '/')).body).toBe('second');
    await expect(start(under, {}, { port })).rejects.toThrow('another program has that port;');
  });
});
