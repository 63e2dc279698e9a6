// The server adapters' suite: the heads of requests, in any number of pieces, too large, broken or odd.
import { describe, expect, test, vi } from 'vitest';
import { REST_MS_MAX } from '../../../src/http/request-body.ts';
import type { ServerRequest } from '../../../src/http/server.ts';
import { handshake, turns } from '../../fakes/raw-socket.ts';
import { type AdapterUnderTest, get, HEADER_BYTES_MAX, mirror, onFakeTimers, rawSocket, start } from './fixture.ts';

export function headSuite(under: AdapterUnderTest): void {
  /** A server, and the paths of the requests that have reached its handler. */
  const listing = async () => {
    const paths: string[] = [];
    const request = async ({ path }: ServerRequest) => {
      paths.push(path);
      return { status: 200 };
    };
    return { ...(await start(under, { request })), paths };
  };

  describe('a head', () => {
    const { unanswered = [] } = under.gaps;
    /** A known gap: the header timeout ends it, or the server closes the connection. */
    const isUnanswered = (what: string) => unanswered.includes(what);
    const seen = async () => start(under, { request: async (request) => mirror(request) });
    /** The reply to these bytes in two segments. */
    const inTwo = async (port: number, bytes: string, at: number) => {
      const socket = await rawSocket(port);
      await socket.writeApart([bytes.slice(0, at), bytes.slice(at)]);
      const reply = await socket.reply();
      socket.destroy();
      return reply;
    };
    test('reads the same at every split of 300 bytes', async () => {
      const { port } = await seen();
      const query = `model=deepgram/nova-3&provider_params=${'%7B%22a%22:1%7D'.repeat(10)}`;
      const bytes = get(`/v1/listen?${query}`, ['X-Last: end']);
      for (let at = 1; at < bytes.length; at++) {
        const { status, body } = await inTwo(port, bytes, at);
        expect([at, status]).toEqual([at, 200]);
        expect(JSON.parse(body)).toMatchObject({ query, headers: { 'x-last': 'end' } });
      }
    });

    test('reads the same at every split of 6 KB', async () => {
      const { port } = await seen();
      const query = `provider_params=${'x'.repeat(6000)}`;
      const bytes = get(`/v1/listen?${query}`, [`X-Filler: ${'y'.repeat(500)}`]);
      const step = Math.floor(bytes.length / 40);
      for (let at = 2; at < bytes.length; at += step)
        expect(JSON.parse((await inTwo(port, bytes, at)).body).query).toBe(query);
    });

    test('arrives byte by byte', async () => {
      const { port } = await seen();
      const socket = await rawSocket(port);
      const bytes = get('/trickle', ['X-Last: end']);
      await socket.writeApart([...bytes]);
      expect(JSON.parse((await socket.reply()).body).headers).toMatchObject({ 'x-last': 'end' });
    });

    test('passes at the limit, and gets 414 with the limit one byte above it', async () => {
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
    ])('gets 414 with %s at any split', async (_what, bytes) => {
      const { port } = await start(under);
      for (const at of [2, 40, 1460, 4096, 8190, 8193, bytes.length - 40, bytes.length - 1])
        expect([at, (await inTwo(port, bytes, at)).status]).toEqual([at, 414]);
    });

    test('gets a 4xx or 505 for 20 KB, and the connection closes', async () => {
      const { port } = await start(under);
      const socket = await rawSocket(port);
      await socket.writeApart([get(`/?q=${'u'.repeat(20_000)}`).slice(0, 12_000), 'u'.repeat(12_000)]);
      expect([400, 414, 431, 505]).toContain((await socket.reply()).status);
      await socket.closed;
    });

    test.each([
      ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'],
      ['a version that there is not', 'GET / HTTP/3.7\r\nHost: a\r\n\r\n'],
      [
        'both Content-Length and Transfer-Encoding',
        'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ],
      ['a Content-Length that is not a number', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3x\r\n\r\nabc'],
    ])('fails with %s, and the connection closes', async (what, bytes) => {
      const { port } = await start(under, { request: () => Promise.reject(new Error('reached')) });
      const socket = await rawSocket(port);
      await socket.writeApart([bytes]);
      if (isUnanswered(what)) return;
      expect([400, 505]).toContain((await socket.reply()).status);
      await socket.closed;
    });

    test('gets 400 for two Host headers in a request or a handshake, and reaches no handler', async () => {
      const reached = () => Promise.reject(new Error('reached'));
      const { port } = await start(under, { request: reached, upgrade: reached });
      for (const bytes of [get('/', ['Host: other']), handshake('/', ['hOST: localhost'])]) {
        const socket = await rawSocket(port);
        socket.write(bytes);
        const { status, body } = await socket.reply();
        expect(status).toBe(400);
        if (!under.gaps.ownPages) expect(JSON.parse(body).error.message).toContain('`Host`');
      }
    });

    test.each([
      ['two lengths', 'Content-Length: 3\r\nContent-Length: 30\r\n\r\nabc'],
      ['the same length twice', 'Content-Length: 3\r\ncontent-length: 3\r\n\r\nabc'],
      ['a coding that is not chunked', 'Transfer-Encoding: xchunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
      ['a coding behind chunked', 'Transfer-Encoding: chunked, identity\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
    ])(
      'gets 400 with %s, reaches no handler, and ends the connection',
      onFakeTimers(async (_what: string, rest: string) => {
        const { port } = await start(under, { request: () => Promise.reject(new Error('reached')) });
        const socket = await rawSocket(port);
        socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${rest}`);
        expect((await socket.reply()).status).toBe(400);
        await vi.advanceTimersByTimeAsync(REST_MS_MAX);
        await socket.closed;
      }),
    );

    test('leads to one request when trailers look like another', async () => {
      const { port, paths } = await listing();
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
    ])('fails at once with %s, and reaches no handler', async (what, bytes) => {
      const { port, paths } = await listing();
      const socket = await rawSocket(port);
      await socket.writeApart([bytes]);
      if (!isUnanswered(what)) expect((await socket.reply()).status).toBe(400);
      expect(paths).toEqual([]);
    });

    const past = under.gaps.fewHeaders ? 431 : 200;
    test.each([
      [48, 200],
      [96, 200],
      [100, past],
      [500, past],
    ])('always gets an answer with %i headers', async (count, expected) => {
      const { port, paths } = await listing();
      const socket = await rawSocket(port);
      await socket.writeApart([
        get(
          '/',
          Array.from({ length: count }, (_, index) => `X${index}: v`),
        ),
      ]);
      expect((await socket.reply()).status).toBe(expected);
      expect(paths).toHaveLength(expected === 200 ? 1 : 0);
    });

    test(under.gaps.http10 ? 'gets 505 in HTTP/1.0 (known gap)' : 'gets an answer in HTTP/1.0', async () => {
      const { port, paths } = await listing();
      const socket = await rawSocket(port);
      await socket.writeApart(['GET / HTTP/1.0\r\nHost: a\r\n\r\n']);
      expect((await socket.reply()).status).toBe(under.gaps.http10 ? 505 : 200);
      expect(paths).toHaveLength(under.gaps.http10 ? 0 : 1);
    });
  });
}
