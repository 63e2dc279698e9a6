// The server adapters' suite: answers that come before the body of their request is whole, to clients that go on sending it in chunks.
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { REST_BYTES_MAX } from '../../../src/http/request-body.ts';
import { type AdapterUnderTest, Signal, start } from './fixture.ts';
import { Given } from './given-body.ts';

const MEBIBYTE = 1024 * 1024;
const HEAD = ['POST / HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked', '\r\n'].join('\r\n');
const CHUNK = `${MEBIBYTE.toString(16)}\r\n${'x'.repeat(MEBIBYTE)}\r\n`;

/** A client that sends, and reads the whole answer before its body is. */
async function begun(port: number) {
  const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', agent: false });
  const errors: Error[] = [];
  request.on('error', (error) => errors.push(error));
  request.write('half');
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { request, response, errors };
}

async function text(response: IncomingMessage): Promise<string> {
  let all = '';
  for await (const piece of response.setEncoding('utf8')) all += piece;
  return all;
}

export function earlyAnswerSuite(under: AdapterUnderTest): void {
  describe('an answer before the body of its request is whole', () => {
    test.each([
      ['of some text', 401, 'Wrong key – ключ.'],
      ['of no text', 401, ''],
    ])('%s is complete at once, while the client still sends', async (_what, status, body) => {
      const headers = { 'X-Request-Id': 'req_1' };
      const { port, faults } = await start(under, { request: async () => ({ status, headers, body }) });
      const { response, errors } = await begun(port);
      expect([response.statusCode, response.headers['x-request-id'], await text(response)]).toEqual([
        status,
        'req_1',
        body,
      ]);
      expect([errors, faults]).toEqual([[], []]);
    });

    test.each([
      ['in chunks', HEAD, CHUNK, '0\r\n\r\n'],
      [
        'before it closes',
        HEAD.replace(/Transfer.*/, `Content-Length: ${8 * MEBIBYTE}\r\nConnection: close`),
        'x'.repeat(MEBIBYTE),
        '',
      ],
    ])('reaches a client that sends all of its body, 8 MiB %s, before it reads', async (_what, head, piece, end) => {
      const { port } = await start(under, { request: async () => ({ status: 401, body: 'Wrong key.' }) });
      const client = connect(port, '127.0.0.1').pause();
      const errors: Error[] = [];
      client.on('error', (error) => errors.push(error));
      client.write(head);
      for (let sent = 0; sent < 8; sent++) if (!client.write(piece)) await once(client, 'drain');
      client.write(end);
      const [answer] = (await once(client.resume(), 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 .*Wrong key\./s);
      client.end();
      await once(client, 'close');
      expect(errors).toEqual([]);
    });

    test('reaches its end in parts when the client has sent everything', async () => {
      const { port } = await start(under, {
        request: async () => ({ status: 200, body: new Given().give('a', 'b', undefined) }),
      });
      const { request, response, errors } = await begun(port);
      const whole = text(response);
      request.write('x'.repeat(MEBIBYTE));
      request.end();
      expect([await whole, errors]).toEqual(['ab', []]);
    });

    test(`ends the connection of a client that continues beyond ${REST_BYTES_MAX / MEBIBYTE} MiB`, async () => {
      const aborted = new Signal<boolean>();
      const { port } = await start(under, {
        request: async ({ signal }) => {
          signal.addEventListener('abort', () => aborted.add(true));
          return { status: 401, body: 'Wrong key.' };
        },
      });
      const client = connect(port, '127.0.0.1');
      client.on('error', () => {}).resume();
      const closed = new Promise((resolve) => client.once('close', resolve));
      client.write(HEAD);
      await once(client, 'data');
      let sent = 0;
      // What the two kernels hold comes on top.
      for (; !client.destroyed && sent < 2 * REST_BYTES_MAX; sent += MEBIBYTE)
        if (!client.write(CHUNK)) await Promise.race([once(client, 'drain').catch(() => {}), closed]);
      await closed;
      expect(sent).toBeGreaterThan(REST_BYTES_MAX - MEBIBYTE);
      expect(sent).toBeLessThan(2 * REST_BYTES_MAX);
      expect(aborted.left).toEqual([]);
    });
  });
}
