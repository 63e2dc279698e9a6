// The server adapters' suite: answers in pieces. Each leaves as it comes, back-pressure reaches whoever makes them, and every ending is
// told: the client that leaves, the body that fails, nobody to read. Clients that read slowly: slow-readers.ts.
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { turns } from '../../fakes/raw-socket.ts';
import { type AdapterUnderTest, digest, http, rawSocket, Signal, start } from './fixture.ts';
import { Given, open } from './given-body.ts';

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

export function streamSuite(under: AdapterUnderTest): void {
  const serving = (body: AsyncIterable<string>) =>
    start(under, {
      request: async ({ path }) =>
        path === '/plain' ? { status: 200, body: 'plain' } : { status: 200, headers: { 'X-Id': 'abc' }, body },
    });

  describe('an answer in pieces', () => {
    test('arrives piece by piece, each before the next was made, with its status and headers', async () => {
      const body = new Given().give('ä: one');
      const { port } = await serving(body);
      const response = await open(port);
      const { headers, statusCode } = response.setEncoding('utf8');
      expect([statusCode, headers['x-id'], headers['content-length']]).toEqual([200, 'abc', undefined]);
      expect(headers['transfer-encoding']).toBe('chunked');
      const pieces = response[Symbol.asyncIterator]();
      expect((await pieces.next()).value).toBe('ä: one');
      body.give('two');
      expect((await pieces.next()).value).toBe('two');
      // An empty piece is nothing, and above all not the end.
      body.give('', 'three', undefined);
      expect((await pieces.next()).value).toBe('three');
      expect((await pieces.next()).done).toBe(true);
      expect(response.complete).toBe(true);
    });

    test('ends empty without any part, and the connection continues', async () => {
      const { port } = await serving(new Given().give(undefined));
      const socket = await rawSocket(port);
      socket.write(GET);
      expect(await http(port, '/plain')).toMatchObject({ body: 'plain' });
      expect((await socket.reply({ hasBody: false })).status).toBe(200);
    });

    test('stays well-formed to its end after a chunked body', async () => {
      const body = new Given();
      const { port } = await start(under, {
        request: async (request) => {
          for await (const _ of request.body(100));
          return { status: 200, body: body.give('one') };
        },
      });
      const client = connect(port, '127.0.0.1').setEncoding('latin1');
      client.write('POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n');
      let text = '';
      for await (const data of client) {
        text += data;
        if (text.includes('one')) body.give('two', undefined);
        if (text.endsWith('0\r\n\r\n')) break;
      }
      expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toBe('3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n');
    });

    test('precedes others on the same connection', async () => {
      const { port } = await start(under, {
        request: async ({ path }) => ({ status: 200, body: new Given().give(path, '!', undefined) }),
      });
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const bodies: string[] = [];
      for (const path of ['/1', '/2', '/3']) bodies.push((await http(port, path, { agent })).body);
      expect(bodies).toEqual(['/1!', '/2!', '/3!']);
      agent.destroy();
    });

    test('arrives whole with 32 MiB', async () => {
      const piece = 'x'.repeat(65_521);
      async function* many() {
        for (let count = 0; count < 512; count++) yield piece;
      }
      const { port } = await serving(many());
      const { body } = await http(port, '/');
      expect([body.length, digest(Buffer.from(body))]).toEqual([
        512 * piece.length,
        digest(Buffer.from(piece.repeat(512))),
      ]);
    });

    test('produces no more than the client takes', async () => {
      let made = 0;
      async function* endless() {
        for (;;) {
          made++;
          yield 'y'.repeat(65_536);
          await turns(1);
        }
      }
      const { port } = await serving(endless());
      const response = await open(port);
      response.pause();
      // The kernels at both ends take some; then it stands still.
      let before = -1;
      while (made !== before) {
        before = made;
        await turns(400);
      }
      expect(made).toBeLessThan(512);
      response.resume();
      while (made < before + 64) await turns(1);
      response.destroy();
    });

    test('releases its source when the client leaves, also while it is idle', async () => {
      const body = new Given().give('one');
      const aborted = new Signal<string>();
      const { port, faults } = await start(under, {
        request: async ({ path, signal }) => {
          if (path === '/plain') return { status: 200 };
          signal.addEventListener('abort', () => aborted.add('aborted'));
          return { status: 200, body };
        },
      });
      (await open(port)).once('data', () => {}).destroy();
      expect([await body.told.next(), await aborted.next()]).toEqual(['returned', 'aborted']);
      // What it still says goes nowhere, and harms nobody.
      body.give('two', new Error('late'));
      await turns();
      expect([(await http(port, '/plain')).status, faults]).toEqual([200, []]);
    });

    test('ends after its last part when it fails, incomplete, and onFault receives the reason', async () => {
      const body = new Given().give('one', new Error('inside'));
      const { port, faults } = await serving(body);
      const response = await open(port);
      let text = '';
      const failure = await (async () => {
        try {
          for await (const piece of response) text += String(piece);
          return undefined;
        } catch (error) {
          return error as NodeJS.ErrnoException;
        }
      })();
      expect([text, failure?.code, response.complete]).toEqual(['one', 'ECONNRESET', false]);
      expect(faults).toEqual([new Error('inside')]);
      expect((await http(port, '/plain')).status).toBe(200);
    });

    test('costs only the connection when it fails before its first part', async () => {
      const { port, faults } = await serving(new Given().give(new Error('at once')));
      await expect(http(port, '/')).rejects.toThrow();
      expect([(await http(port, '/plain')).status, faults]).toEqual([200, [new Error('at once')]]);
    });

    test('releases its source unread for a HEAD, and for a client that left before', async () => {
      const body = new Given();
      const arrived = new Signal<() => void>();
      const { port } = await start(under, {
        request: ({ method }) =>
          method === 'HEAD'
            ? Promise.resolve({ status: 200, headers: { 'X-Id': 'abc' }, body })
            : new Promise((resolve) => arrived.add(() => resolve({ status: 200, body }))),
      });
      expect(await http(port, '/', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
      expect(await body.told.next()).toBe('returned');
      const socket = await rawSocket(port);
      socket.write(GET);
      const answer = await arrived.next();
      socket.reset();
      await socket.closed;
      await turns();
      answer();
      expect([await body.told.next(), body.asked]).toEqual(['returned', 0]);
    });

    test('counts as a fault with an unwritable header, and releases its source', async () => {
      const body = new Given();
      const { port, faults } = await start(under, {
        request: async () => ({ status: 200, headers: { 'X-Id': 'a\r\nb' }, body }),
      });
      expect([(await http(port, '/')).status, faults.length, await body.told.next()]).toEqual([500, 1, 'returned']);
    });
  });
}
