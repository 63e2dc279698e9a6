// The server adapters' suite, part four: what an upgrade is, how it is accepted or refused, and TLS.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { SocketHandlers, UpgradeAnswer } from '../../../src/http/server.ts';
import { clientFrame, handshake, OPCODE, turns } from '../../fakes/raw-socket.ts';
import {
  type AdapterUnderTest,
  digest,
  echoHandlers,
  http,
  mirror,
  nextMessage,
  rawSocket,
  Signal,
  start,
} from './fixture.ts';

export function handshakeSuite(under: AdapterUnderTest): void {
  describe('a handshake', () => {
    test('reaches the handler as it was sent', async () => {
      const { port } = await start(under, { upgrade: async (request) => ({ refuse: mirror(request) }) });
      const socket = await rawSocket(port);
      const { body } = await socket.handshake('/v1/listen?model=a%2Fb', [
        'Sec-WebSocket-Protocol: bearer, sk',
        'Authorization: Bearer x',
      ]);
      expect(JSON.parse(body)).toMatchObject({
        method: 'GET',
        path: '/v1/listen',
        query: 'model=a%2Fb',
        remoteAddress: '127.0.0.1',
        headers: { 'sec-websocket-protocol': 'bearer, sk', authorization: 'Bearer x' },
      });
    });

    test('gets status, headers and body when refused, and the connection closes', async () => {
      const { port } = await start(under, {
        upgrade: async () => ({ refuse: { status: 401, headers: { 'X-Request-Id': 'req_1' }, body: '{"error":{}}' } }),
      });
      const socket = await rawSocket(port);
      const { status, headers, body } = await socket.handshake('/v1/listen');
      expect([status, headers.get('x-request-id'), headers.get('connection'), body]).toEqual([
        401,
        'req_1',
        'close',
        '{"error":{}}',
      ]);
      await socket.closed;
    });

    test.each([
      [
        'names the subprotocol and headers of the answer',
        { protocol: 'bearer', headers: { 'X-Request-Id': 'req_2' } },
        'bearer',
        'req_2',
      ],
      ['names none when the answer has none', {}, undefined, undefined],
    ])('answers when accepted: %s', async (_what, answer, protocol, requestId) => {
      const { port } = await start(under, { upgrade: async () => ({ accept: echoHandlers, ...answer }) });
      const socket = await rawSocket(port);
      const { status, headers } = await socket.handshake('/', ['Sec-WebSocket-Protocol: bearer, sk_secret']);
      expect([status, headers.get('sec-websocket-accept')]).toEqual([101, 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=']);
      expect([headers.get('sec-websocket-protocol'), headers.get('x-request-id')]).toEqual([protocol, requestId]);
    });

    test('leaves an invalid list of subprotocols to the handler', async () => {
      const { port } = await start(under);
      const socket = await rawSocket(port);
      expect((await socket.handshake('/', ['Sec-WebSocket-Protocol: bearer,,b@d, bearer'])).status).toBe(101);
    });

    test('stays uncompressed, even when the client offers compression', async () => {
      const { port } = await start(under);
      const socket = await rawSocket(port);
      const { status, headers } = await socket.handshake('/', [
        'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits',
      ]);
      expect([status, headers.has('sec-websocket-extensions')]).toEqual([101, false]);
    });

    test('gets the answer of onFault when its handler rejects or forges a header', async () => {
      const { port, faults } = await start(under, {
        upgrade: async ({ path }): Promise<UpgradeAnswer> => {
          if (path === '/reject') throw new Error('inside');
          return { accept: echoHandlers, protocol: 'a\r\nX-Forged: 1' };
        },
      });
      for (const path of ['/reject', '/forge']) {
        const { status, headers } = await (await rawSocket(port)).handshake(path);
        expect([status, headers.has('x-forged')]).toEqual([500, false]);
      }
      expect(faults.length).toBe(2);
    });

    test.each([
      ['a key that is too short', handshake('/').replace('dGhlIHNhbXBsZSBub25jZQ==', 'c2hvcnQ=')],
      ['a key that is not base64', handshake('/').replace('dGhlIHNhbXBsZSBub25jZQ==', '!!!!!!!!!!!!!!!!!!!!!!==')],
      ['no key', handshake('/').replace(/Sec-WebSocket-Key.*\r\n/, '')],
      ['another version', handshake('/').replace('Version: 13', 'Version: 7')],
    ])('gets 400 with %s and reaches no handler', async (what, bytes) => {
      const { port } = await start(under, { upgrade: () => Promise.reject(new Error('reached')) });
      const socket = await rawSocket(port);
      socket.write(bytes);
      const { status, headers, body } = await socket.reply();
      expect([status, JSON.parse(body).error.code]).toEqual([400, 'invalid_request']);
      expect(headers.get('sec-websocket-version')).toBe(what === 'another version' ? '13' : undefined);
    });

    test('larger than the limit is refused with 414', async () => {
      const { port } = await start(under);
      const socket = await rawSocket(port);
      expect((await socket.handshake(`/?${'q'.repeat(9000)}`)).status).toBe(414);
    });

    test('aborts when its client leaves first: no socket opens, and the close is reported', async () => {
      const events = new Signal<unknown>();
      const accept: SocketHandlers = {
        ...echoHandlers,
        open: () => events.add('open'),
        closed: (socket, code) => events.add([code, socket.closed, socket.send('x')]),
      };
      const { port, faults } = await start(under, {
        upgrade: ({ signal }) =>
          new Promise((resolve) => {
            events.add('asked');
            signal.addEventListener('abort', () => resolve({ accept }));
          }),
      });
      const socket = await rawSocket(port);
      socket.write(handshake('/'));
      expect(await events.next()).toBe('asked');
      socket.reset();
      expect(await events.next()).toEqual([1006, true, 'gone']);
      await turns();
      expect([events.left, faults]).toEqual([[], []]);
    });

    test('opens a socket like any other when it is decided later', async () => {
      const { port } = await start(under, {
        upgrade: async () => {
          await new Promise((resolve) => setImmediate(resolve));
          return { accept: echoHandlers };
        },
      });
      const socket = await rawSocket(port);
      await socket.handshake('/');
      socket.write(clientFrame(OPCODE.text, 'later'));
      expect((await socket.frame()).payload.toString()).toBe('later');
    });
  });

  describe('an ordinary request', () => {
    test('reaches the handler as a GET of the same path without the upgrade', async () => {
      const { port } = await start(under, {
        request: async () => ({ status: 426 }),
        upgrade: () => Promise.reject(new Error('upgrade')),
      });
      expect((await http(port, '/v1/listen')).status).toBe(426);
    });

    test.each([
      ['a handshake key but no upgrade', handshake('/').replace(/(Connection|Upgrade): .*\r\n/g, '')],
      ['an upgrade to something else', handshake('/').replace('Upgrade: websocket', 'Upgrade: h2c')],
    ])('follows from %s', async (_what, bytes) => {
      const { port } = await start(under);
      const socket = await rawSocket(port);
      socket.write(bytes);
      expect((await socket.reply()).body).toBe('ok');
    });

    test('gets an answer with its body when it offers HTTP/2, and the connection continues', async () => {
      const warnings: Error[] = [];
      const warned = (warning: Error) => warnings.push(warning);
      process.on('warning', warned);
      const { port } = await start(under, {
        request: async (request) => {
          const chunks: Buffer[] = [];
          for await (const chunk of request.body(100)) chunks.push(chunk as Buffer);
          return { status: 200, body: Buffer.concat(chunks) };
        },
      });
      const socket = await rawSocket(port);
      const lines = [
        'POST / HTTP/1.1',
        'Host: a',
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABk',
      ];
      for (let round = 10; round < 30; round++) {
        const text = `no ${round}`;
        await socket.writeApart([
          [...lines, 'Content-Length: 5', '\r\n'].join('\r\n') + text.slice(0, 2),
          text.slice(2),
        ]);
        expect((await socket.reply()).body).toBe(text);
      }
      process.off('warning', warned);
      expect(warnings).toEqual([]);
    });
  });

  // openssl makes the certificates: without it these tests fail on the build server and are skipped elsewhere.
  describe.skipIf(!process.env.CI && spawnSync('openssl', ['version']).status !== 0)('the server over TLS', () => {
    let folder: string;
    let tls: { certFile: string; keyFile: string };

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'server-tls-'));
      tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
      const settings = [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
      ];
      await promisify(execFile)('openssl', [...settings, '-keyout', tls.keyFile, '-out', tls.certFile]);
    });
    afterAll(() => rm(folder, { recursive: true }));

    test('requests with large bodies both ways are served', async () => {
      const reply = Buffer.alloc(2_000_000, 'reply');
      const { port } = await start(
        under,
        {
          request: async (request) => {
            const chunks: Buffer[] = [];
            for await (const chunk of request.body(10_000_000)) {
              chunks.push(chunk as Buffer);
              // Slower than the client: the server must pause and resume.
              await new Promise((resolve) => setImmediate(resolve));
            }
            return { status: 200, headers: { 'X-Digest': digest(Buffer.concat(chunks)) }, body: reply };
          },
        },
        { tls },
      );
      const body = Buffer.alloc(5_000_000, 'request');
      const answer = await new Promise<{ digest: unknown; bytes: number }>((resolve, reject) => {
        const request = httpsRequest(
          { port, host: '127.0.0.1', method: 'POST', rejectUnauthorized: false },
          (response) => {
            let bytes = 0;
            response.on('data', (chunk: Buffer) => {
              bytes += chunk.length;
            });
            response.on('end', () => resolve({ digest: response.headers['x-digest'], bytes }));
          },
        );
        request.on('error', reject);
        request.end(body);
      });
      expect(answer).toEqual({ digest: digest(body), bytes: reply.length });
    });

    test('sockets are served', async () => {
      const { port } = await start(under, {}, { tls });
      const client = new WebSocket(`wss://127.0.0.1:${port}/`, { rejectUnauthorized: false });
      await new Promise((resolve) => client.once('open', resolve));
      client.send('s'.repeat(300_000));
      expect((await nextMessage(client)).length).toBe(300_000);
      const closed = new Promise((resolve) => client.once('close', resolve));
      client.close(1000);
      expect(await closed).toBe(1000);
    });

    test('drops a client that speaks plain HTTP, and no other', async () => {
      const { port } = await start(under, {}, { tls });
      const plain = await rawSocket(port);
      plain.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await plain.closed;
      const socket = await rawSocket(port, { tls: true });
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      expect((await socket.reply()).body).toBe('ok');
    });

    test('files that are not there, or no certificate, keep the server shut, with one sentence', async () => {
      const missing = { certFile: join(folder, 'none.pem'), keyFile: tls.keyFile };
      await expect(start(under, {}, { tls: missing })).rejects.toThrow(/^The TLS file .*none\.pem cannot be read\.$/);
      const garbage = join(folder, 'garbage.pem');
      await writeFile(garbage, 'no certificate');
      await expect(start(under, {}, { tls: { certFile: garbage, keyFile: garbage } })).rejects.toThrow(
        /are not a certificate and its key in PEM form\.$/,
      );
    });
  });
}
