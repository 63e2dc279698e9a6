// The server adapters' suite, part one: plain requests. What handlers see, and what clients get back.
import { Agent } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { ServerHandlers } from '../../../src/http/server.ts';
import { turns } from '../../fakes/raw-socket.ts';
import { type AdapterUnderTest, get, http, mirror, rawSocket, Signal, start } from './fixture.ts';

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

export function requestSuite(under: AdapterUnderTest): void {
  describe('a request', () => {
    test('reaches the handler as it was sent: method, undecoded path and query, headers in lower case', async () => {
      const { port } = await start(under, { request: async (request) => mirror(request) });
      const { body } = await http(port, '/v1/a%2Fb?x=%20y&z', {
        method: 'DELETE',
        headers: { 'X-Mixed-Case': 'Value' },
      });
      expect(JSON.parse(body)).toMatchObject({
        method: 'DELETE',
        path: '/v1/a%2Fb',
        query: 'x=%20y&z',
        remoteAddress: '127.0.0.1',
        headers: { 'x-mixed-case': 'Value' },
      });
    });

    test('joins a repeated header by a comma', async () => {
      const { port } = await start(under, { request: async (request) => mirror(request) });
      const socket = await rawSocket(port);
      socket.write(get('/', ['X-Two: a', 'x-two: b', 'Cookie: c=1', 'Cookie: d=2']));
      const { headers } = JSON.parse((await socket.reply()).body);
      expect(headers).toMatchObject({ 'x-two': 'a, b', cookie: 'c=1, d=2' });
    });

    test('gets the handler’s status, headers and body, and nothing that names the server', async () => {
      const { port } = await start(under, {
        request: async () => ({ status: 418, headers: { 'X-Id': 'abc', 'Content-Length': '1' }, body: 'köttel' }),
      });
      const { status, headers, body } = await http(port, '/');
      expect([status, headers['x-id'], headers['content-length'], body]).toEqual([418, 'abc', '7', 'köttel']);
      expect(Object.keys(headers).filter((name) => /server|powered|uwebsockets/.test(name))).toEqual([]);
    });

    test.each([0, 1, 65_536, 8 * 1024 * 1024])('gets a body of %i bytes whole', async (bytes) => {
      const { port } = await start(under, { request: async () => ({ status: 200, body: Buffer.alloc(bytes, 'z') }) });
      const { headers, body } = await http(port, '/');
      expect([headers['content-length'], body.length]).toEqual([String(bytes), bytes]);
    });

    test('gets the length without a body for HEAD, and the connection continues', async () => {
      const { port } = await start(under, { request: async () => ({ status: 200, body: 'four' }) });
      const socket = await rawSocket(port);
      socket.write('HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      expect((await socket.reply({ hasBody: false })).headers.get('content-length')).toBe('4');
      socket.write(get('/'));
      expect((await socket.reply()).body).toBe('four');
    });

    test('follows another on one connection', async () => {
      const { port } = await start(under, { request: async ({ path }) => ({ status: 200, body: path }) });
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const replies = [];
      for (const path of ['/1', '/2', '/3']) replies.push((await http(port, path, { agent })).body);
      expect(replies).toEqual(['/1', '/2', '/3']);
      agent.destroy();
    });

    test(`sent before the answer to the one before ${under.gaps.pipelining ? 'costs the connection (known gap)' : 'is answered in turn'}`, async () => {
      const { port } = await start(under, {
        request: async ({ path }) => {
          await turns();
          return { status: 200, body: path };
        },
      });
      const socket = await rawSocket(port);
      socket.write(get('/1') + get('/2'));
      if (under.gaps.pipelining) await socket.closed;
      else expect([(await socket.reply()).body, (await socket.reply()).body]).toEqual(['/1', '/2']);
    });

    test('aborts the signal when its client leaves', async () => {
      const aborted = new Signal<string>();
      const { port } = await start(under, {
        request: ({ signal }) =>
          new Promise(() => {
            aborted.add('waiting');
            signal.addEventListener('abort', () => aborted.add('aborted'));
          }),
      });
      const socket = await rawSocket(port);
      socket.write(get('/'));
      expect(await aborted.next()).toBe('waiting');
      socket.reset();
      expect(await aborted.next()).toBe('aborted');
    });

    test('harms no other when its client leaves before the answer', async () => {
      const arrived = new Signal<() => void>();
      const { port, faults } = await start(under, {
        request: ({ path }) =>
          path === '/slow'
            ? new Promise((resolve) => arrived.add(() => resolve({ status: 200, body: 'late' })))
            : Promise.resolve({ status: 200 }),
      });
      const socket = await rawSocket(port);
      socket.write(get('/slow'));
      const answer = await arrived.next();
      socket.reset();
      await socket.closed;
      await turns();
      answer();
      expect([(await http(port, '/')).status, faults]).toEqual([200, []]);
    });
  });

  describe('a handler', () => {
    test('answers through onFault when it rejects, for its request alone', async () => {
      const { port, faults } = await start(under, {
        request: async ({ path }) => {
          if (path === '/bad') throw new Error('inside');
          return { status: 200 };
        },
      });
      expect(await http(port, '/bad')).toMatchObject({ status: 500, body: 'fault' });
      expect(faults).toEqual([new Error('inside')]);
      expect((await http(port, '/good')).status).toBe(200);
    });

    test('answers like one that rejects when it throws at once', async () => {
      const { port } = await start(under, {
        request: () => {
          throw new Error('at once');
        },
      });
      expect(await http(port, '/')).toMatchObject({ status: 500, body: 'fault' });
    });

    test('cannot forge headers: a line break in a value is a fault', async () => {
      const { port, faults } = await start(under, {
        request: async () => ({ status: 200, headers: { 'X-Model': 'a\r\nSet-Cookie: b=c' } }),
      });
      const { status, headers } = await http(port, '/');
      expect([status, headers['set-cookie'], faults.length]).toEqual([500, undefined, 1]);
    });

    test('answers 500 even when onFault fails', async () => {
      const options = {
        onFault: () => {
          throw new Error('again');
        },
      };
      const { port } = await start(under, { request: async () => Promise.reject(new Error('first')) }, options);
      expect((await http(port, '/')).status).toBe(500);
    });
  });

  describe('the server', () => {
    test('fails to open on a taken port, with one sentence', async () => {
      const { port } = await start(under);
      await expect(start(under, {}, { port })).rejects.toThrow(/^Cannot listen on 127\.0\.0\.1:\d+: [^.]+\.$/);
    });

    test('fails to open on an unknown host, with one sentence', async () => {
      await expect(start(under, {}, { host: 'no-such-host.invalid' })).rejects.toThrow(
        /^Cannot listen on no-such-host\.invalid:0: [^.]+\.$/,
      );
    });

    test('serves open connections and accepts no new ones after it stops listening', async () => {
      const arrived = new Signal<() => void>();
      const { server, port } = await start(under, {
        request: () => new Promise((resolve) => arrived.add(() => resolve({ status: 200, body: 'done' }))),
      });
      const socket = await rawSocket(port);
      socket.write(get('/'));
      const answer = await arrived.next();
      server.stopListening();
      await expect(
        new Promise((resolve, reject) => connect(port, '127.0.0.1', () => resolve('open')).on('error', reject)),
      ).rejects.toThrow('ECONNREFUSED');
      answer();
      expect((await socket.reply()).body).toBe('done');
    });

    test('drops open requests, can be closed again, and frees its port', async () => {
      const aborted = new Signal<void>();
      const arrived = new Signal<void>();
      const port = await freePort();
      const waiting: ServerHandlers['request'] = ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => aborted.add());
          arrived.add();
        });
      const { server } = await start(under, { request: waiting }, { port });
      const socket = await rawSocket(port);
      socket.write(get('/'));
      await arrived.next();
      await server.close();
      await Promise.all([socket.closed, aborted.next()]);
      await server.close();
      server.stopListening();
      expect((await start(under, {}, { port })).port).toBe(port);
    });
  });
}
