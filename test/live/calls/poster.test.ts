// Posts to receivers that behave badly: they keep nobody else waiting, and are read no further than they may be.
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, BlockList } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { openPoster } from '../../../src/live/calls/webhook.ts';

const networks = new BlockList();
networks.addSubnet('127.0.0.0', 8);
const poster = openPoster(networks);
afterAll(() => poster.close());

async function receiver(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

test('keeps one customer’s silent receiver from delaying another’s posts to the same host', async () => {
  const silent: ServerResponse[] = [];
  const url = await receiver((request, response) => {
    if (request.url === '/silent') silent.push(response);
    else response.writeHead(204).end();
  });
  const waiting = Array.from({ length: 9 }, () => poster.postOf('org_1')(new URL('/silent', url), {}, '{}'));
  expect(await poster.postOf('org_2')(url, {}, '{}')).toBe(204);
  const own = poster.postOf('org_1')(url, {}, '{}');
  expect(silent).toHaveLength(8);
  for (const response of silent) response.writeHead(204).end();
  expect(await own).toBe(204);
  for (const response of silent.slice(8)) response.writeHead(204).end();
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => 204));
});

test('reads an endless answer up to 64 KiB, and drops its connection', async () => {
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
  expect(await poster.postOf('org_1')(url, {}, '{}')).toBe(200);
  await isOver;
});
