// The server adapters' suite, part two: request bodies. Whole, bounded, held back for slow readers, and gone without harm.
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { BodyTooLarge, type Reply, type ServerRequest } from '../../../src/http/server.ts';
import { turns } from '../../fakes/raw-socket.ts';
import { type AdapterUnderTest, digest, http, rawSocket, Signal, start } from './fixture.ts';

const MEBIBYTE = 1024 * 1024;

const post = (headers: readonly string[], path = '/') =>
  [`POST ${path} HTTP/1.1`, 'Host: localhost', ...headers, '\r\n'].join('\r\n');

async function readAll(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Answers with length and digest, or 413 past the limit. */
const digestUpTo =
  (maxBytes: number) =>
  async (request: ServerRequest): Promise<Reply> => {
    try {
      const bytes = await readAll(request.body(maxBytes));
      return { status: 200, body: `${bytes.length} ${digest(bytes)}` };
    } catch (error) {
      return { status: error instanceof BodyTooLarge ? 413 : 400, body: (error as Error).message };
    }
  };

export function bodySuite(under: AdapterUnderTest): void {
  describe('a body', () => {
    test.each([0, 1, 65_536, 3 * MEBIBYTE + 1])(
      'arrives whole with %i bytes, with a length and in chunks',
      async (bytes) => {
        const { port } = await start(under, { request: digestUpTo(8 * MEBIBYTE) });
        const body = Buffer.alloc(bytes, 'body');
        const expected = `${bytes} ${digest(body)}`;
        expect(
          (await http(port, '/', { method: 'POST', body, headers: { 'Content-Length': String(bytes) } })).body,
        ).toBe(expected);
        expect(
          (await http(port, '/', { method: 'POST', body, headers: { 'Transfer-Encoding': 'chunked' } })).body,
        ).toBe(expected);
      },
    );

    test('arrives whole in parts of any size', async () => {
      const { port } = await start(under, { request: digestUpTo(100) });
      const socket = await rawSocket(port);
      await socket.writeApart([
        post(['Transfer-Encoding: chunked']),
        '1\r',
        '\na\r\n',
        '5\r\nbc',
        'def\r',
        '\n0\r\n',
        '\r\n',
      ]);
      expect((await socket.reply()).body).toBe(`6 ${digest(Buffer.from('abcdef'))}`);
    });

    test('continues after `Expect: 100-continue`, and is read', async () => {
      const { port } = await start(under, { request: digestUpTo(100) });
      const socket = await rawSocket(port);
      socket.write(post(['Expect: 100-continue', 'Content-Length: 3']));
      expect((await socket.reply()).status).toBe(100);
      socket.write('abc');
      expect((await socket.reply()).body).toBe(`3 ${digest(Buffer.from('abc'))}`);
    });

    test('fails before its first byte when its length is too large', async () => {
      const { port } = await start(under, { request: digestUpTo(10) });
      const socket = await rawSocket(port);
      socket.write(post(['Content-Length: 11']));
      expect(await socket.reply()).toMatchObject({ status: 413, body: 'The body is larger than 10 bytes.' });
    });

    test.each(['999999999', '1000000000', '1073741825', '99999999999', '999999999999999999'])(
      'gets 413 at once for an announced length of %s bytes',
      async (bytes) => {
        const { port } = await start(under, { request: digestUpTo(10) });
        const socket = await rawSocket(port);
        socket.write(post([`Content-Length: ${bytes}`]));
        expect((await socket.reply()).status).toBe(413);
      },
    );

    test('fails at the limit when it turns out too large, also when announced as smaller', async () => {
      const { port } = await start(under, { request: digestUpTo(10) });
      const socket = await rawSocket(port);
      await socket.writeApart([post(['Transfer-Encoding: chunked']), '8\r\n12345678\r\n', '8\r\n12345678\r\n']);
      expect((await socket.reply()).status).toBe(413);
    });

    test('passes unread, and the connection continues', async () => {
      const { port, faults } = await start(under, { request: async ({ path }) => ({ status: 200, body: path }) });
      const socket = await rawSocket(port);
      await socket.writeApart([
        post(['Content-Length: 10'], '/ignored'),
        '12345',
        '67890',
        post(['Content-Length: 0'], '/next'),
      ]);
      expect([(await socket.reply()).body, (await socket.reply()).body, faults]).toEqual(['/ignored', '/next', []]);
    });

    test('passes unread when 8 MiB were refused: the client gets the answer and may continue', async () => {
      const { port } = await start(under, { request: digestUpTo(10) });
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const big = await http(port, '/', { method: 'POST', body: Buffer.alloc(8 * MEBIBYTE), agent });
      expect(big.status).toBe(413);
      expect((await http(port, '/', { method: 'POST', body: 'abc', agent })).body).toBe(
        `3 ${digest(Buffer.from('abc'))}`,
      );
      agent.destroy();
    });

    test('can be claimed once', async () => {
      const { port, faults } = await start(under, {
        request: async (request) => {
          request.body(10);
          request.body(10);
          return { status: 200 };
        },
      });
      expect((await http(port, '/', { method: 'POST', body: 'abc' })).status).toBe(500);
      expect(faults).toEqual([new Error('The body of a request can be read once.')]);
    });

    test('ends at once for a GET', async () => {
      const { port } = await start(under, { request: digestUpTo(0) });
      expect((await http(port, '/')).body).toBe(`0 ${digest(Buffer.alloc(0))}`);
    });

    test('arrives whole when the handler claims it late', async () => {
      const { port } = await start(under, {
        request: async (request) => {
          await turns(20);
          return digestUpTo(8 * MEBIBYTE)(request);
        },
      });
      const body = Buffer.alloc(4 * MEBIBYTE, 'late');
      expect((await http(port, '/', { method: 'POST', body })).body).toBe(`${body.length} ${digest(body)}`);
    });
  });

  describe('a reader that is slow', () => {
    test('holds the client back: of 50 MB only what buffers hold is taken, and all of it arrives in the end', async () => {
      const readers = new Signal<{ body: Readable; done: (reply: Reply) => void }>();
      const { port } = await start(under, {
        request: (request) => new Promise((done) => readers.add({ body: request.body(64 * MEBIBYTE), done })),
      });
      const total = 50_000_000;
      const client = connect(port, '127.0.0.1');
      client.write(post([`Content-Length: ${total}`]));
      const { body, done } = await readers.next();
      const chunk = Buffer.alloc(100_000, 'x');
      let written = 0;
      const writeUntilStuck = async () => {
        for (let idle = 0; written < total && idle < 200; await turns(1)) {
          idle = client.writableNeedDrain ? idle + 1 : 0;
          if (!client.writableNeedDrain) {
            client.write(chunk);
            written += chunk.length;
          }
        }
      };
      await writeUntilStuck();
      // What the two kernels hold by themselves is far more than what the server may hold.
      expect(written).toBeLessThan(20_000_000);
      expect(body.readableLength).toBeLessThan(2 * MEBIBYTE);
      let received = 0;
      body.on('data', (bytes: Buffer) => {
        received += bytes.length;
      });
      while (written < total) {
        if (client.writableNeedDrain) await once(client, 'drain');
        client.write(chunk);
        written += chunk.length;
      }
      await once(body, 'end');
      expect(received).toBe(total);
      done({ status: 200 });
      const [reply] = (await once(client, 'data')) as [Buffer];
      expect(reply.toString()).toMatch(/^HTTP\/1\.1 200/);
      client.destroy();
    });

    test('lets the rest pass when it gives up, and can still answer', async () => {
      const { port } = await start(under, {
        request: async (request) => {
          const body = request.body(64 * MEBIBYTE);
          await once(body, 'readable');
          body.destroy();
          return { status: 400, body: 'enough' };
        },
      });
      const reply = await http(port, '/', { method: 'POST', body: Buffer.alloc(8 * MEBIBYTE) });
      expect([reply.status, reply.body]).toEqual([400, 'enough']);
    });
  });

  describe('a client that goes away in the middle of its body', () => {
    const failing = async () => {
      const failures = new Signal<unknown>();
      const waiting = new Signal<Readable>();
      const started = await start(under, {
        request: async (request) => {
          const body = request.body(MEBIBYTE);
          waiting.add(body);
          try {
            await readAll(body);
          } catch (error) {
            failures.add([(error as Error).name, request.signal.aborted]);
            throw error;
          }
          return { status: 200 };
        },
      });
      return { ...started, failures, waiting };
    };

    test.each([
      ['by RST', (client: { reset(): void }) => client.reset()],
      ['by FIN', (client: { end(): void }) => client.end()],
    ] as const)('%s fails the body with an AbortError and aborts the signal', async (_how, leave) => {
      const { port, failures, waiting } = await failing();
      const socket = await rawSocket(port);
      socket.write(`${post(['Content-Length: 100'])}half`);
      const body = await waiting.next();
      await turns();
      leave(socket);
      expect(await failures.next()).toEqual(['AbortError', true]);
      expect(body.destroyed).toBe(true);
    });

    test('harms no other client while its body is unread', async () => {
      const claimed = new Signal<Readable>();
      const { port } = await start(under, {
        request: ({ path, body }) =>
          path === '/' ? Promise.resolve({ status: 200 }) : new Promise(() => claimed.add(body(MEBIBYTE))),
      });
      const socket = await rawSocket(port);
      socket.write(`${post(['Content-Length: 100'], '/stuck')}half`);
      const body = await claimed.next();
      socket.reset();
      await new Promise((resolve) => body.once('close', resolve));
      expect((await http(port, '/')).status).toBe(200);
    });

    test('gets an error for a broken chunk, and the body fails', async () => {
      const { port, failures, waiting } = await failing();
      const socket = await rawSocket(port);
      socket.write(post(['Transfer-Encoding: chunked']));
      await waiting.next();
      socket.write('zz\r\nabc\r\n');
      expect(await failures.next()).toEqual(['AbortError', true]);
      await socket.closed;
    });
  });

  test('sends a reply before the body of its request is complete', async () => {
    const { port } = await start(under, { request: async () => ({ status: 401, body: 'first' }) });
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { 'Content-Length': '100' },
      agent: new Agent(),
    });
    request.on('error', () => {});
    request.write('half');
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(401);
    request.destroy();
  });
}
