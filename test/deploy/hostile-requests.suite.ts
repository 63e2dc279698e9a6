// Two nodes behind a proxy, and clients without a key whose requests are made to go wrong. Whatever they send, every honest request is
// served: no answer that is missing or late may let the proxy take a node away.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { handshake } from '../fakes/raw-socket.ts';
import { HOST, lookup, type RunningProxy } from './proxy-rig.ts';

const PATH = '/v1/audio/transcriptions';
/** Longer than a body may stop. */
const PATIENCE_MS = 20_000;
const HONEST_REQUESTS = 20;

const headers = (count: number, value = 'v') => Array.from({ length: count }, (_, index) => `X-Odd-${index}: ${value}`);
const post = (lines: readonly string[], body: string | Buffer = '') =>
  Buffer.concat([
    Buffer.from([`POST ${PATH} HTTP/1.1`, `Host: ${HOST}`, ...lines, '\r\n'].join('\r\n'), 'latin1'),
    Buffer.from(body as string),
  ]);
const get = (path: string, lines: readonly string[] = []) =>
  Buffer.from([`GET ${path} HTTP/1.1`, `Host: ${HOST}`, ...lines, '\r\n'].join('\r\n'), 'latin1');

/** uWebSockets.js answers and closes at once, which a proxy may take for a broken connection as long as it sends the body. */
const CUT_OFF = 'with 200 headers before 4 MB';

const HOSTILE: Readonly<Record<string, Buffer>> = {
  'with 48 headers': get('/v1/models', headers(48)),
  'with 100 headers': get('/v1/models', headers(100)),
  'with 500 headers': get('/v1/models', headers(500, '')),
  'with 200 headers of 100 bytes': get('/v1/models', headers(200, 'v'.repeat(100))),
  'with a header of 7 KB': get('/v1/models', headers(1, 'v'.repeat(7_000))),
  'with headers of 28 KB': get('/v1/models', headers(4, 'v'.repeat(7_000))),
  'with 200 cookies': get('/v1/models', [
    'Cookie: '.concat(Array.from({ length: 200 }, (_, n) => `c${n}=v`).join('; ')),
  ]),
  'with a path of 7 KB': get(`/${'p'.repeat(7_000)}`),
  'with odd bytes in a value': get('/v1/models', ['X-Odd: \xff\xfe\x80\t\x7f']),
  'for a handshake with 200 headers': Buffer.from(handshake('/v1/listen', headers(200)).replace('localhost', HOST)),
  'that announces a gigabyte': post(['Content-Length: 1000000000'], 'begun'),
  'that announces ten gigabytes': post(['Content-Length: 10000000000'], 'begun'),
  'that announces more than any body has': post(['Content-Length: 999999999999999999'], 'begun'),
  [CUT_OFF]: post([...headers(200), 'Content-Length: 4000000'], Buffer.alloc(4_000_000)),
  'with headers of 14 KB before 4 MB': post(
    [...headers(2, 'v'.repeat(7_000)), 'Content-Length: 4000000'],
    Buffer.alloc(4_000_000),
  ),
  'that stops in its body': post(['Content-Length: 100000'], 'begun'),
  'that stops before its body': post(['Transfer-Encoding: chunked']),
  'that stops in a chunk': post(['Transfer-Encoding: chunked'], 'ffff\r\nbegun'),
  'with a chunk beyond all bounds': post(['Transfer-Encoding: chunked'], 'fffffffffffffff\r\nbegun'),
  'by a method that there is not': Buffer.from(`BREW / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`),
  'for all of the server': Buffer.from(`OPTIONS * HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`),
};

/** @param answersEarly whether the proxy passes an answer on before the client has sent its body */
export function hostileRequestSuite(start: (...ports: number[]) => Promise<RunningProxy>, answersEarly: boolean): void {
  const agents: Agent[] = [];
  const sockets: TLSSocket[] = [];
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(agents.map((agent) => agent.destroy()));
  });

  const ask = async ({ url, ca }: RunningProxy, path: string, options: { method?: 'POST'; body?: string } = {}) => {
    const agent = new Agent({ connect: { ca, lookup } });
    agents.push(agent);
    const { statusCode, body } = await request(`${url}${path}`, { ...options, dispatcher: agent });
    await body.dump();
    return statusCode;
  };
  const honest = (proxy: RunningProxy) =>
    Promise.all(Array.from({ length: HONEST_REQUESTS }, () => ask(proxy, '/healthz')));
  const allServed = Array<number>(HONEST_REQUESTS).fill(200);

  /** Sends bytes on a connection of their own; the status of the answer, undefined when there is none in time. */
  const send = async ({ url, ca }: RunningProxy, bytes: Buffer): Promise<number | undefined> => {
    const socket = connectTls({ host: '127.0.0.1', port: Number(new URL(url).port), servername: HOST, ca });
    sockets.push(socket);
    socket.on('error', () => {});
    socket.write(bytes);
    const ended = once(socket, 'close').then(() => []);
    const late = once(AbortSignal.timeout(PATIENCE_MS), 'abort').then(() => []);
    const [answer] = (await Promise.race([once(socket, 'data'), ended, late])) as [Buffer?];
    const status = answer?.toString('latin1').split(' ')[1];
    return status === undefined ? undefined : Number(status);
  };

  describe('a proxy before two gateways', () => {
    let proxy: RunningProxy;
    beforeAll(async () => {
      const env = { VOXGATE_TRUSTED_PROXIES: '127.0.0.1', VOXGATE_DOOR: 'auto' };
      const nodes = [await startLiveGateway(env), await startLiveGateway(env)];
      proxy = await start(...nodes.map(({ gateway }) => gateway.port));
    });

    test('serves every honest request while others send requests that go wrong', async () => {
      // Twice each, so that both nodes get it.
      const answers = Object.entries(HOSTILE).flatMap(([what, bytes]) =>
        [0, 1].map(async () => [what, await send(proxy, bytes)] as const),
      );
      const served: number[][] = [];
      for (const answer of answers) {
        await answer;
        served.push(await honest(proxy));
      }
      expect(served).toEqual(answers.map(() => allServed));
      // Not one of them is an answer of the proxy's own: that the node gave none, or a wrong one.
      const statuses = await Promise.all(answers);
      const faults = statuses.filter(
        ([what, status]) => what !== CUT_OFF && (status ?? (answersEarly ? 599 : 0)) >= 500,
      );
      expect(faults).toEqual([]);
    });
  });

  describe('two servers that leave requests without an answer', () => {
    let proxy: RunningProxy;
    let unanswered = 0;
    const listener: RequestListener = (incoming, response) => {
      if (incoming.url !== '/unanswered') return void response.end();
      unanswered++;
      incoming.socket.destroy();
    };
    const servers = [createServer(listener), createServer(listener)];
    beforeAll(async () => {
      for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
      proxy = await start(...servers.map((server) => (server.address() as AddressInfo).port));
    });
    afterAll(() => {
      for (const server of servers) server.close().closeAllConnections();
    });

    test('keep receiving requests, both of them', async () => {
      for (let round = 0; round < 5; round++) {
        expect(await ask(proxy, '/unanswered')).toBe(502);
        expect(await honest(proxy)).toEqual(allServed);
      }
    });

    test('get a request that may have begun only once', async () => {
      unanswered = 0;
      const status = await ask(proxy, '/unanswered', { method: 'POST', body: 'once' });
      expect([status, unanswered]).toEqual([502, 1]);
    });

    test('lose the turn while one cannot be reached', async () => {
      servers[0]!.close().closeAllConnections();
      expect(await honest(proxy)).toEqual(allServed);
    });
  });
}
