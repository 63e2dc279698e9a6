// The suite of the server adapters, on node:http and ws; and the header timeout, which is this adapter's own.
import { expect, test } from 'vitest';
import { openNodeServer } from '../../../src/http/node/server.ts';
import { rawSocket, start } from '../../suites/server-adapter/fixture.ts';
import { serverAdapterSuite } from '../../suites/server-adapter.suite.ts';

const under = { open: openNodeServer, gaps: {} };

serverAdapterSuite(under);

test('answers 408 to a head that is not complete in time, and closes the connection', async () => {
  const { port } = await start(under, {}, { headerTimeoutMs: 100 });
  const socket = await rawSocket(port);
  socket.write('GET / HTTP/1.1\r\nX-Slow: ');
  expect((await socket.reply()).status).toBe(408);
  await socket.closed;
});

test('answers 405 to a tunnel request, and closes the connection', async () => {
  const { port } = await start(under, {});
  const socket = await rawSocket(port);
  socket.write('CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect((await socket.reply()).status).toBe(405);
  await socket.closed;
});
