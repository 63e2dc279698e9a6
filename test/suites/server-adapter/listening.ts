// Ports: those that a server gets, those that it does not get, and those that it leaves.
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type AdapterUnderTest, http, nextMessage, start, webSocket } from './fixture.ts';

export function listeningSuite(under: AdapterUnderTest): void {
  describe('a port', () => {
    test.each([0, 1])(
      'passes to the next server at once, after its clients were cut off (restart %i)',
      async (more) => {
        const first = await start(under);
        let { server } = first;
        for (let restart = 0; restart <= more; restart++) {
          const socket = await webSocket(first.port);
          socket.send('here');
          expect(await nextMessage(socket)).toBe('here');
          expect((await http(first.port, '/', { headers: { connection: 'close' } })).status).toBe(200);
          // The server ends first: its side of the connection is what the system remembers.
          await server.close();
          ({ server } = await start(under, {}, { port: first.port }));
          expect(server.port).toBe(first.port);
        }
        expect((await http(first.port, '/')).status).toBe(200);
      },
    );

    test.each([[undefined], [true]])(
      'refuses to open on another program’s port with that reason (shared: %s)',
      async (shared) => {
        const server = createServer();
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        const { port } = server.address() as { port: number };
        const options = { port, ...(shared === undefined ? {} : { shared }) };
        await expect(start(under, {}, options)).rejects.toThrow(
          `Cannot listen on 127.0.0.1:${port}: another program has that port; end it, or set VOXGATE_PORT to another one.`,
        );
        server.close();
      },
    );

    test('belongs to one server unless it is shared', async () => {
      const { port } = await start(under);
      for (const shared of [false, true])
        await expect(start(under, {}, { port, shared })).rejects.toThrow('another program has that port;');
    });

    test('picked by two servers at once is not the same', async () => {
      const servers = await Promise.all(Array.from({ length: 8 }, () => start(under)));
      expect(new Set(servers.map(({ port }) => port)).size).toBe(8);
    });
  });
}
