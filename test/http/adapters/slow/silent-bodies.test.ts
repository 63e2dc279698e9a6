// Clients that stop in the middle of a body, at both servers: they get an answer. Without one, a proxy takes the node for broken.
import { describe, expect, test } from 'vitest';
import { openNodeServer } from '../../../../src/http/node/server.ts';
import { reasonAgainstUws } from '../../../../src/http/open-server.ts';
import { openUwsServer } from '../../../../src/http/uws/server.ts';
import { closeAfterAll, rawSocket, start } from '../../../suites/server-adapter/fixture.ts';

closeAfterAll();
const reason = await reasonAgainstUws();
const servers = [['node', openNodeServer] as const, ...(reason === undefined ? [['uws', openUwsServer] as const] : [])];

const post = (headers: string, begun = '') => `POST / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n${begun}`;
const STOPPED = {
  'with a length': post('Content-Length: 100000', 'some of it'),
  'with a length, before its first byte': post('Content-Length: 100000'),
  'in chunks': post('Transfer-Encoding: chunked', '5\r\nsome \r\n'),
  'in chunks, within one': post('Transfer-Encoding: chunked', 'ffff\r\nsome'),
  'in chunks, within the size of one': post('Transfer-Encoding: chunked', 'fff'),
};

// All of them wait for timers of the servers.
describe.concurrent.each(servers)('silent bodies at the server %s', (_name, open) => {
  const reading = () =>
    start(
      { open, gaps: {} },
      {
        request: async ({ body }) => {
          let bytes = 0;
          for await (const chunk of body(1_000_000)) bytes += (chunk as Buffer).length;
          return { status: 200, body: String(bytes) };
        },
      },
    );

  test('bodies of every kind that stop are answered 408', async () => {
    const { port } = await reading();
    const statuses = Object.entries(STOPPED).map(async ([what, bytes]) => {
      const socket = await rawSocket(port);
      socket.write(bytes);
      return [what, (await socket.reply()).status];
    });
    expect(await Promise.all(statuses)).toEqual(Object.keys(STOPPED).map((what) => [what, 408]));
  });

  test('receives a body at 8 KB a second whole', async () => {
    const { port } = await reading();
    const socket = await rawSocket(port);
    const reply = socket.reply();
    const seconds = 25;
    socket.write(post(`Content-Length: ${seconds * 8_000}`));
    let left = seconds;
    const pace = setInterval(() => left-- > 0 && socket.write('x'.repeat(8_000)), 1_000);
    expect((await reply.finally(() => clearInterval(pace))).body).toBe(String(seconds * 8_000));
  });
});
