// The server adapters' suite: where a request ends, and where a connection does. If the end of a request cannot be known, it is refused, and
// nothing behind it is read as a request: a proxy may have taken those bytes for a part of its body (request smuggling).
import { describe, expect, test, vi } from 'vitest';
import { REST_MS_MAX } from '../../../src/http/request-body.ts';
import type { Reply, ServerRequest } from '../../../src/http/server.ts';
import { handshake, turns } from '../../fakes/raw-socket.ts';
import { type AdapterUnderTest, echoHandlers, get, onFakeTimers, rawSocket, start } from './fixture.ts';

const BEHIND = get('/behind');
const post = (headers: readonly string[], body = '') =>
  ['POST /refused HTTP/1.1', 'Host: localhost', ...headers, `\r\n${body}`].join('\r\n');
const chunked = (body: string) => post(['Transfer-Encoding: chunked'], body);

/** What is broken, and what is on the connection before the bytes behind it. */
const REFUSED: readonly [what: string, bytes: string][] = [
  ['two lengths', post(['Content-Length: 3', 'Content-Length: 30'], 'abc')],
  ['the same length twice', post(['Content-Length: 3', 'Content-Length: 3'], 'abc')],
  ['the same length twice, written differently', post(['content-length: 3', 'CONTENT-LENGTH: 3'], 'abc')],
  ['a list of lengths', post(['Content-Length: 3, 3'], 'abc')],
  ['a length with a sign', post(['Content-Length: +3'], 'abc')],
  ['a negative length', post(['Content-Length: -3'], 'abc')],
  ['a length with a letter', post(['Content-Length: 3x'], 'abc')],
  ['a length in hexadecimal', post(['Content-Length: 0x3'], 'abc')],
  ['a length with a space inside', post(['Content-Length: 3 0'], 'abc')],
  ['a length of thirty digits', post([`Content-Length: ${'9'.repeat(30)}`], 'abc')],
  ['an empty length', post(['Content-Length:'], 'abc')],
  ['a length and a coding', post(['Content-Length: 3', 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
  ['a coding and a length', post(['Transfer-Encoding: chunked', 'Content-Length: 3'], '0\r\n\r\n')],
  ['two codings', post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
  ['a coding and another', post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], '0\r\n\r\n')],
  ['a coding that is not chunked', post(['Transfer-Encoding: xchunked'], '0\r\n\r\n')],
  ['a list of codings', post(['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n')],
  ['a coding behind chunked', post(['Transfer-Encoding: chunked, identity'], '0\r\n\r\n')],
  ['a quoted coding', post(['Transfer-Encoding: "chunked"'], '0\r\n\r\n')],
  ['an empty coding', post(['Transfer-Encoding:'], '0\r\n\r\n')],
  ['a chunk size that is not a number', chunked('zz\r\nabc\r\n0\r\n\r\n')],
  ['a negative chunk size', chunked('-3\r\nabc\r\n0\r\n\r\n')],
  ['a chunk size with a prefix', chunked('0x3\r\nabc\r\n0\r\n\r\n')],
  ['a chunk longer than its size', chunked('3\r\nabcd\r\n0\r\n\r\n')],
  ['a chunk size beyond all bounds', chunked('ffffffffffffffffff\r\nabc')],
  ['a folded header', get('/refused', ['X-Folded: a', ' b'])],
  ['a space before the colon', get('/refused', ['X-Space : a'])],
  ['a length with a space before the colon', post(['Content-Length : 3'], 'abc')],
  ['an empty header name', get('/refused', [': a'])],
  ['a NUL in a value', get('/refused', ['X-Nul: a\0b'])],
  ['bare line feeds', 'GET /refused HTTP/1.1\nHost: localhost\n\n'],
  ['two hosts', get('/refused', ['Host: other'])],
  ['no host', 'GET /refused HTTP/1.1\r\n\r\n'],
  ['a version that there is not', 'GET /refused HTTP/3.7\r\nHost: localhost\r\n\r\n'],
  ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'],
  ['HEAD with two lengths', post(['Content-Length: 3', 'Content-Length: 30'], 'abc').replace('POST', 'HEAD')],
  ['a handshake with a list of lengths', handshake('/refused', ['Content-Length: 3, 4'])],
  ['a handshake with two lengths', handshake('/refused', ['Content-Length: 0', 'Content-Length: 3'])],
  ['a handshake with a coding', handshake('/refused', ['Transfer-Encoding: xchunked'])],
  ['a handshake with two hosts', handshake('/refused', ['Host: other'])],
];

const WHOLE = '3\r\nabc\r\n0\r\n\r\n';
const CHUNKED = 'Transfer-Encoding: chunked';

/** Requests after which a connection may end, though it is clear where they do. */
const LAST: readonly [what: string, bytes: string][] = [
  ['with a body in chunks', chunked(WHOLE)],
  ['of GET with a body in chunks', get('/refused', [CHUNKED]) + WHOLE],
  ['of HEAD with a body in chunks', post([CHUNKED], WHOLE).replace('POST', 'HEAD')],
  ['with a trailer', chunked('3\r\nabc\r\n0\r\nX-Trailer: a\r\n\r\n')],
  ['with chunks that asks for a close', post(['Connection: close', CHUNKED], WHOLE)],
  ['that asks for a close', get('/refused', ['Connection: close'])],
  ['that asks for a close in a list', get('/refused', ['Connection: TE, Close'])],
  ['of HEAD that asks for a close', get('/refused', ['Connection: close']).replace('GET', 'HEAD')],
  ['with a length that asks for a close', post(['Connection: close', 'Content-Length: 3'], 'abc')],
  ['for a handshake', handshake('/refused')],
  ['for a handshake of another version', handshake('/refused').replace('Version: 13', 'Version: 7')],
];

async function* pieces() {
  yield 'one';
  yield 'two';
}

type Answer = (request: ServerRequest) => Promise<Reply>;
const read =
  (answer: Answer): Answer =>
  async (request) => {
    for await (const _ of request.body(1_000));
    return answer(request);
  };
const ANSWERS: Readonly<Record<string, Answer>> = {
  text: async () => ({ status: 401, body: 'Wrong key.' }),
  nothing: async () => ({ status: 204 }),
  bytes: async () => ({ status: 200, body: Buffer.from('bytes') }),
  'much text': async () => ({ status: 200, body: 't'.repeat(100_000) }),
  pieces: async () => ({ status: 200, body: pieces() }),
};

export function framingSuite(under: AdapterUnderTest): void {
  describe('a request whose end cannot be known', () => {
    /** A server, and the paths of all that reached a handler. */
    const recording = async () => {
      const paths: string[] = [];
      const { port } = await start(under, {
        request: async ({ path, body }) => {
          paths.push(path);
          for await (const _ of body(1_000));
          return { status: 200, body: path };
        },
        upgrade: async ({ path }) => {
          paths.push(path);
          return { accept: echoHandlers };
        },
      });
      return { port, paths };
    };

    const { readBroken = [] } = under.gaps;
    const refused = REFUSED.filter(([what]) => !readBroken.includes(what));

    const closesAfterAnswer = onFakeTimers(async (_what: string, bytes: string) => {
      for (const behind of [[bytes + BEHIND], [bytes, BEHIND], [bytes + BEHIND + BEHIND + BEHIND, BEHIND]]) {
        const { port, paths } = await recording();
        const socket = await rawSocket(port);
        await socket.writeApart(behind);
        expect([400, 413, 501, 505]).toContain((await socket.reply()).status);
        await vi.advanceTimersByTimeAsync(REST_MS_MAX);
        expect(await socket.rest()).not.toContain('HTTP/1.1');
        await turns();
        expect(paths.filter((path) => path !== '/refused')).toEqual([]);
      }
    });
    test.each(refused)('closes the connection after its answer: %s', closesAfterAnswer);

    test('answers a client that sends a lot behind it', async () => {
      const { port, paths } = await recording();
      const socket = await rawSocket(port);
      socket.write(post(['Content-Length: 3', 'Content-Length: 3'], 'abc') + BEHIND.repeat(1_000));
      const { status, headers, body } = await socket.reply();
      expect([status, headers.get('connection'), JSON.parse(body).error.code]).toEqual([
        400,
        'close',
        'invalid_request',
      ]);
      expect([await socket.rest(), paths]).toEqual(['', []]);
    });
  });

  describe('an answer that ends its connection', () => {
    const answers = Object.entries(ANSWERS).flatMap(([what, answer]) => [
      [what, answer] as const,
      [`${what} after the body`, read(answer)] as const,
    ]);
    /** Sends the pieces to a server with this answer; whether the next request on the connection was served. */
    const isNextServed = async (answer: Answer, sent: readonly string[]) => {
      const paths: string[] = [];
      const { port } = await start(under, {
        request: async (request) => {
          paths.push(request.path);
          return request.path === '/behind' ? { status: 200 } : answer(request);
        },
        upgrade: async () => ({ refuse: { status: 401, body: 'Wrong key.' } }),
      });
      const socket = await rawSocket(port);
      await socket.writeApart(sent);
      const hasBody = !sent[0]!.startsWith('HEAD');
      const reply = await socket.reply({ hasBody }).catch(() => undefined);
      await turns();
      socket.destroy();
      const isLast = reply === undefined || reply.headers.get('connection') === 'close' || /close/i.test(sent[0]!);
      return { status: reply?.status, isLast, isNextServed: paths.includes('/behind') };
    };

    test.each(LAST)('serves no request after it, to a request %s', async (_what, bytes) => {
      const splits = [[bytes + BEHIND], [bytes, BEHIND], [bytes.slice(0, -20), bytes.slice(-20) + BEHIND]];
      const served = await Promise.all(
        answers.flatMap(([what, answer]) =>
          splits.map(async (sent) => ({ what, sent, ...(await isNextServed(answer, sent)) })),
        ),
      );
      expect(served.filter(({ isLast, isNextServed }) => isLast && isNextServed)).toEqual([]);
    });

    test.each(LAST.filter(([what]) => !/trailer/.test(what)))('arrives, to a request %s', async (_what, bytes) => {
      const statuses = answers.map(async ([, answer]) => (await isNextServed(answer, [bytes])).status);
      for (const status of await Promise.all(statuses)) expect(status).toBeOneOf([200, 204, 400, 401]);
    });
  });

  describe('between two requests of a connection', () => {
    const { emptyLines, trailers } = under.gaps;
    const echoPath = () => start(under, { request: async ({ path }) => ({ status: 200, body: path }) });

    test(
      emptyLines ? 'leaves the second unanswered after an empty line (known gap)' : 'ignores an empty line',
      async () => {
        const { port } = await echoPath();
        const socket = await rawSocket(port);
        socket.write(`${post(['Content-Length: 3'], 'abc')}\r\n`);
        expect((await socket.reply()).body).toBe('/refused');
        socket.write(BEHIND);
        if (!emptyLines) expect((await socket.reply()).body).toBe('/behind');
        await turns();
        socket.destroy();
        if (emptyLines) expect(await socket.rest()).toBe('');
      },
    );

    test(trailers ? 'refuses a trailer (known gap)' : 'ignores a trailer', async () => {
      const { port } = await echoPath();
      const socket = await rawSocket(port);
      socket.write(chunked('3\r\nabc\r\n0\r\nX-Trailer: a\r\n\r\n') + BEHIND);
      expect((await socket.reply()).status).toBe(trailers ? 505 : 200);
      if (!trailers) expect((await socket.reply()).body).toBe('/behind');
    });
  });

  describe('a refused head whose end is known', () => {
    test('leaves its body unread and its connection as it was', async () => {
      const { port } = await start(under, { request: async ({ path }) => ({ status: 200, body: path }) });
      const socket = await rawSocket(port);
      const body = 'x'.repeat(2_000_000);
      socket.write(post([`X-Long: ${'h'.repeat(9_000)}`, `Content-Length: ${body.length}`], body));
      expect((await socket.reply()).status).toBe(414);
      socket.write(BEHIND);
      expect((await socket.reply()).body).toBe('/behind');
    });
  });
}
