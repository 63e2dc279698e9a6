// One attempt against real receivers: honest ones, and those that hang, redirect, answer too much, or are in a private network.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, BlockList, createServer as createSocketServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { openPoster } from '../../src/webhooks/post.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const networks = new BlockList();
networks.addSubnet('127.0.0.0', 8);
const poster = openPoster({ networks });
const hasty = openPoster({ networks, timeoutMs: 100 });
afterAll(() => {
  poster.close();
  hasty.close();
});

async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

/** A receiver that writes these bytes and does nothing more. */
async function rawReceiver(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe('an honest receiver', () => {
  it('gets the headers and the body, over a connection for each attempt', async () => {
    const seen: object[] = [];
    const url = await receiver(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      const { method, headers, socket } = request;
      seen.push({ method, body, id: headers['webhook-id'], type: headers['content-type'], port: socket.remotePort });
      response.end('{"ok":true}');
    });
    for (const id of ['msg_1', 'msg_2']) {
      expect(await poster.post(url, { 'webhook-id': id }, '{"type":"ü"}')).toEqual({ status: 200 });
    }
    expect(seen).toMatchObject([
      { method: 'POST', body: '{"type":"ü"}', id: 'msg_1', type: 'application/json' },
      { id: 'msg_2' },
    ]);
    expect(new Set(seen.map((each) => (each as { port: number }).port)).size).toBe(2);
  });

  it('gets other methods, bodies and the user name of its URL', async () => {
    const seen: object[] = [];
    const url = await receiver(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      const { method, headers } = request;
      seen.push({ method, body: Buffer.concat(pieces).toString('hex'), headers });
      response.end();
    });
    const headers = { 'Content-Type': 'audio/x', 'X-Secret': 's' };
    const body = new Uint8Array([0, 255, 128]);
    const named = url.replace('//', '//ada:p%40ss@');
    expect(await poster.send({ method: 'PUT', url: named, headers, body })).toEqual({ status: 200 });
    expect(seen).toMatchObject([
      {
        ...{ method: 'PUT', body: '00ff80' },
        headers: {
          ...{ 'content-type': 'audio/x', 'content-length': '3', 'x-secret': 's' },
          authorization: `Basic ${Buffer.from('ada:p@ss').toString('base64')}`,
        },
      },
    ]);
  });

  it.each([200, 201, 202, 204, 206, 226, 299])('has its status %i', async (status) => {
    const url = await receiver((_, response) => response.writeHead(status).end());
    expect(await poster.post(url, {}, '{}')).toEqual({ status });
  });
});

describe('a receiver', () => {
  it.each([301, 302, 307, 308])('that redirects with %i is not followed', async (status) => {
    let paths = 0;
    const url = await receiver((_, response) => {
      paths++;
      response.writeHead(status, { Location: '/elsewhere' }).end();
    });
    expect(await poster.post(url, {}, '{}')).toEqual({ status });
    expect(paths).toBe(1);
  });

  it('that never answers costs the time of an attempt', async () => {
    const url = await rawReceiver(() => {});
    expect(await hasty.post(url, {}, '{}')).toEqual({ error: 'timeout' });
  });

  it('that never answers costs no more where memory is collected meanwhile', async () => {
    const url = await rawReceiver(() => {});
    const posted = hasty.post(url, {}, '{}');
    for (let collections = 0; collections < 5; collections++) {
      await setImmediate();
      collect();
    }
    expect(await posted).toEqual({ error: 'timeout' });
  });

  it('that sends its head byte by byte costs no more', async () => {
    const url = await rawReceiver((socket) => socket.write('HTTP/1.1 200 OK\r\nX: '));
    expect(await hasty.post(url, {}, '{}')).toEqual({ error: 'timeout' });
  });

  it('that closes without an answer has reset the connection', async () => {
    const url = await rawReceiver((socket) => socket.destroy());
    expect(await poster.post(url, {}, '{}')).toEqual({ error: 'connection_reset' });
  });

  it('that sends 10,000 bytes of headers is not read', async () => {
    const url = await receiver((_, response) => response.writeHead(200, { 'X-Long': 'x'.repeat(10_000) }).end());
    expect(await poster.post(url, {}, '{}')).toEqual({ error: 'headers_too_large' });
  });

  it('that does not speak HTTP is not understood', async () => {
    const url = await rawReceiver((socket) => socket.end('220 mail.example ESMTP\r\n'));
    expect(await poster.post(url, {}, '{}')).toEqual({ error: 'invalid_answer' });
  });

  it('that answers without end is read up to 4 KiB, and its connection dropped', async () => {
    let isOver: Promise<unknown> = Promise.resolve();
    const url = await receiver((_, response) => {
      isOver = once(response, 'close');
      response.writeHead(200);
      const piece = Buffer.alloc(16_384);
      const more = () => {
        while (response.write(piece));
      };
      response.on('drain', more).on('error', () => {});
      more();
    });
    expect(await poster.post(url, {}, '{}')).toEqual({ status: 200 });
    await isOver;
  });

  it('that does not end its answer is left after a second', async () => {
    let isOver: Promise<unknown> = Promise.resolve();
    const url = await receiver((_, response) => {
      isOver = once(response, 'close');
      response.writeHead(200).write('more to come');
    });
    expect(await poster.post(url, {}, '{}')).toEqual({ status: 200 });
    await isOver;
  });
});

describe('an address', () => {
  it.each([
    'https://127.0.0.1/',
    'https://localhost/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://2130706433/',
    'http://93.184.215.14/',
  ])('of a private network, or without TLS, is not connected to: %s', async (url) => {
    expect(await openPoster({ networks: undefined }).post(url, {}, '{}')).toEqual({ error: 'address_not_allowed' });
  });

  it('without a server has refused the connection', async () => {
    const server = createSocketServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    expect(await poster.post(`http://127.0.0.1:${port}/`, {}, '{}')).toEqual({ error: 'connection_refused' });
  });

  it('that cannot be parsed fails', async () => {
    expect(await poster.post('nonsense', {}, '{}')).toEqual({ error: 'connection_failed' });
  });
});
