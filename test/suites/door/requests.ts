// The door's suite, part one: plain requests. What handlers see, what clients get back, and heads in any number of pieces.
import { Agent } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { DoorHandlers } from '../../../src/edge/door.ts';
import { handshake, turns } from '../../fakes/raw-socket.ts';
import { type DoorUnderTest, HEADER_BYTES_MAX, http, mirror, rawSocket, Signal, start } from './fixture.ts';

const get = (target: string, headers: readonly string[] = []) =>
  [`GET ${target} HTTP/1.1`, 'Host: localhost', ...headers, '\r\n'].join('\r\n');

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

export function requestSuite(under: DoorUnderTest): void {
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

    test('with a header given twice has both values, joined by a comma', async () => {
      const { port } = await start(under, { request: async (request) => mirror(request) });
      const socket = await rawSocket(port);
      socket.write(get('/', ['X-Two: a', 'x-two: b', 'Cookie: c=1', 'Cookie: d=2']));
      const { headers } = JSON.parse((await socket.reply()).body);
      expect(headers).toMatchObject({ 'x-two': 'a, b', cookie: 'c=1, d=2' });
    });

    test('is answered with the handler’s status, headers and body, and nothing that names the server', async () => {
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

    test('with HEAD gets the length and no body, and the connection goes on', async () => {
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

    test('whose client goes away aborts the signal', async () => {
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

    test('that is answered after its client went away harms nobody', async () => {
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
    test('that rejects is answered by onFault, and only its request is', async () => {
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

    test('that throws at once is answered like one that rejects', async () => {
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

    test('is answered 500 even when onFault fails', async () => {
      const options = {
        onFault: () => {
          throw new Error('again');
        },
      };
      const { port } = await start(under, { request: async () => Promise.reject(new Error('first')) }, options);
      expect((await http(port, '/')).status).toBe(500);
    });
  });

  describe('a head', () => {
    const seen = async () => start(under, { request: async (request) => mirror(request) });
    /** The reply to these bytes in two segments. */
    const inTwo = async (port: number, bytes: string, at: number) => {
      const socket = await rawSocket(port);
      await socket.writeApart([bytes.slice(0, at), bytes.slice(at)]);
      const reply = await socket.reply();
      socket.destroy();
      return reply;
    };
    const lineEnd = (bytes: string) => bytes.indexOf('\r\n') + 2;
    /** Splits that this door is meant to read. */
    const isRead = (bytes: string, at: number) =>
      !under.gaps.splitRequestLine || at < 'GET '.length || at >= lineEnd(bytes);

    test('of 300 bytes is read the same wherever TCP splits it', async () => {
      const { port } = await seen();
      const query = `model=deepgram/nova-3&provider_params=${'%7B%22a%22:1%7D'.repeat(10)}`;
      const bytes = get(`/v1/listen?${query}`, ['X-Last: end']);
      for (let at = 1; at < bytes.length; at++) {
        if (!isRead(bytes, at)) continue;
        const { status, body } = await inTwo(port, bytes, at);
        expect([at, status]).toEqual([at, 200]);
        expect(JSON.parse(body)).toMatchObject({ query, headers: { 'x-last': 'end' } });
      }
    });

    test('of 6 KB is read the same wherever TCP splits it', async () => {
      const { port } = await seen();
      const query = `provider_params=${'x'.repeat(6000)}`;
      const bytes = get(`/v1/listen?${query}`, [`X-Filler: ${'y'.repeat(500)}`]);
      const step = Math.floor(bytes.length / 40);
      for (let at = 2; at < bytes.length; at += step) {
        if (!isRead(bytes, at)) continue;
        expect(JSON.parse((await inTwo(port, bytes, at)).body).query).toBe(query);
      }
    });

    test('that trickles in byte by byte is read', async () => {
      const { port } = await seen();
      const socket = await rawSocket(port);
      const bytes = get('/trickle', ['X-Last: end']);
      const whole = under.gaps.splitRequestLine ? lineEnd(bytes) : 0;
      await socket.writeApart([bytes.slice(0, whole), ...bytes.slice(whole)].filter((piece) => piece !== ''));
      expect(JSON.parse((await socket.reply()).body).headers).toMatchObject({ 'x-last': 'end' });
    });

    // Where the door falls short this is what a client meets; open-door.ts keeps such a build from being chosen.
    test.runIf(under.gaps.splitRequestLine)('split in its first line is answered 505 (known gap)', async () => {
      const { port } = await seen();
      expect((await inTwo(port, get('/v1/listen'), 10)).status).toBe(505);
    });

    test('at the limit passes, and one byte more is answered 414 with the limit in the message', async () => {
      const { port } = await start(under);
      const filler = (bytes: number) => 'z'.repeat(bytes - get('/?').length);
      const socket = await rawSocket(port);
      socket.write(get(`/?${filler(HEADER_BYTES_MAX)}`));
      expect((await socket.reply()).status).toBe(200);
      const past = await rawSocket(port);
      past.write(get(`/?${filler(HEADER_BYTES_MAX + 1)}`));
      const { status, body } = await past.reply();
      expect([status, JSON.parse(body).error]).toMatchObject([
        414,
        { code: 'uri_too_long', message: expect.stringContaining('8192') },
      ]);
    });

    test.each([
      ['a URL of 9 KB', get(`/?q=${'u'.repeat(9000)}`)],
      ['headers of 9 KB', get('/', [`X-Long: ${'h'.repeat(9000)}`])],
    ])('with %s is answered 414 at any split', async (_what, bytes) => {
      const { port } = await start(under);
      for (const at of [2, 40, 1460, 4096, 8190, 8193, bytes.length - 40, bytes.length - 1]) {
        if (isRead(bytes, at)) expect([at, (await inTwo(port, bytes, at)).status]).toEqual([at, 414]);
      }
    });

    test('of 20 KB is refused with a 4xx or 505 status and the connection closed', async () => {
      const { port } = await start(under);
      const socket = await rawSocket(port);
      await socket.writeApart([get(`/?q=${'u'.repeat(20_000)}`).slice(0, 12_000), 'u'.repeat(12_000)]);
      const { status } = await socket.reply();
      expect([400, 414, 431, 505]).toContain(status);
      await socket.closed;
    });

    test.each([
      ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'],
      ['a version that there is not', 'GET / HTTP/3.7\r\nHost: a\r\n\r\n'],
      [
        'both Content-Length and Transfer-Encoding',
        'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ],
      ['a Content-Length that is no number', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3x\r\n\r\nabc'],
    ])('with %s is refused and the connection closed', async (_what, bytes) => {
      const { port } = await start(under);
      const socket = await rawSocket(port);
      socket.write(bytes);
      expect([400, 505]).toContain((await socket.reply()).status);
      await socket.closed;
    });

    test('with two Host headers is refused with 400 and reaches no handler, be it a request or a handshake', async () => {
      const reached = () => Promise.reject(new Error('reached'));
      const { port } = await start(under, { request: reached, upgrade: reached });
      for (const bytes of [get('/', ['Host: other']), handshake('/', ['hOST: localhost'])]) {
        const socket = await rawSocket(port);
        socket.write(bytes);
        const { status, body } = await socket.reply();
        expect([status, JSON.parse(body).error.message]).toEqual([400, expect.stringContaining('`Host`')]);
      }
    });

    test('of chunks with trailers that look like a request leads to one request', async () => {
      const paths: string[] = [];
      const { port } = await start(under, {
        request: async ({ path }) => {
          paths.push(path);
          return { status: 200, body: path };
        },
      });
      const socket = await rawSocket(port);
      const head = 'POST /first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n';
      await socket.writeApart([head, 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n']);
      await Promise.race([socket.closed, socket.reply().catch(() => {})]);
      await turns();
      expect(paths.filter((path) => path === '/smuggled')).toEqual([]);
    });

    test.each([
      ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
      ['a folded header', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n'],
      ['a NUL in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n'],
      ['a bare CR in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n'],
      ['a space before the colon', 'GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n'],
    ])(
      `with %s ${under.gaps.patientWithBrokenHeads ? 'never reaches a handler' : 'is refused at once'}`,
      async (_what, bytes) => {
        let reached = 0;
        const { port } = await start(under, {
          request: async () => {
            reached++;
            return { status: 200 };
          },
        });
        const socket = await rawSocket(port);
        await socket.writeApart([bytes]);
        if (!under.gaps.patientWithBrokenHeads) expect((await socket.reply()).status).toBe(400);
        expect(reached).toBe(0);
      },
    );

    test(`with 200 headers ${under.gaps.fewHeaders ? 'never reaches a handler (known gap)' : 'is served'}`, async () => {
      let reached = 0;
      const { port } = await start(under, {
        request: async () => {
          reached++;
          return { status: 200 };
        },
      });
      const socket = await rawSocket(port);
      const headers = Array.from({ length: 200 }, (_, index) => `X-${index}: v`);
      await socket.writeApart([get('/', headers)]);
      if (!under.gaps.fewHeaders) expect((await socket.reply()).status).toBe(200);
      expect(reached).toBe(under.gaps.fewHeaders ? 0 : 1);
    });

    test(`of HTTP/1.0 is ${under.gaps.http10 ? 'answered 505 (known gap)' : 'served'}`, async () => {
      const { port } = await start(under);
      const socket = await rawSocket(port);
      socket.write('GET / HTTP/1.0\r\nHost: a\r\n\r\n');
      expect((await socket.reply()).status).toBe(under.gaps.http10 ? 505 : 200);
    });
  });

  describe('the door', () => {
    test('on a port that is taken does not open, and says so in one sentence', async () => {
      const { port } = await start(under);
      await expect(start(under, {}, { port })).rejects.toThrow(/^Cannot listen on 127\.0\.0\.1:\d+: [^.]+\.$/);
    });

    test('on a host that there is not does not open, and says so in one sentence', async () => {
      await expect(start(under, {}, { host: 'no-such-host.invalid' })).rejects.toThrow(
        /^Cannot listen on no-such-host\.invalid:0: [^.]+\.$/,
      );
    });

    test('that stops listening keeps serving open connections and takes no new ones', async () => {
      const arrived = new Signal<() => void>();
      const { door, port } = await start(under, {
        request: () => new Promise((resolve) => arrived.add(() => resolve({ status: 200, body: 'done' }))),
      });
      const socket = await rawSocket(port);
      socket.write(get('/'));
      const answer = await arrived.next();
      door.stopListening();
      await expect(
        new Promise((resolve, reject) => connect(port, '127.0.0.1', () => resolve('open')).on('error', reject)),
      ).rejects.toThrow('ECONNREFUSED');
      answer();
      expect((await socket.reply()).body).toBe('done');
    });

    test('that closes drops open requests, can be closed again, and frees its port', async () => {
      const aborted = new Signal<void>();
      const arrived = new Signal<void>();
      const port = await freePort();
      const waiting: DoorHandlers['request'] = ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => aborted.add());
          arrived.add();
        });
      const { door } = await start(under, { request: waiting }, { port });
      const socket = await rawSocket(port);
      socket.write(get('/'));
      await arrived.next();
      await door.close();
      await Promise.all([socket.closed, aborted.next()]);
      await door.close();
      door.stopListening();
      expect((await start(under, {}, { port })).port).toBe(port);
    });
  });
}
