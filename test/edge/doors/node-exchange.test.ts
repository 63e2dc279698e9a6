// What node:http leaves to this door: bodies that stop arriving, and what is said to bytes that are no request.
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { NodeExchange, refusalOfBroken } from '../../../src/edge/node/exchange.ts';

/** A request whose silence timer is fired by hand. */
class Incoming extends PassThrough {
  method = 'POST';
  url = '/?a=b';
  rawHeaders = ['Content-Length', '3000000'];
  socket = { remoteAddress: '::ffff:10.0.0.1' };
  complete = false;
  silent = () => {};
  timeouts: number[] = [];

  setTimeout(ms: number, callback?: () => void): this {
    this.timeouts.push(ms);
    this.silent = callback ?? this.silent;
    return this;
  }
}

function exchange() {
  const incoming = new Incoming();
  const response = Object.assign(new EventEmitter(), { writableFinished: false });
  const made = new NodeExchange(incoming as unknown as IncomingMessage, response as unknown as ServerResponse);
  return { incoming, response, request: made.request };
}

describe('a body', () => {
  test('that stops arriving fails with 408', async () => {
    const { incoming, request } = exchange();
    const body = request.body(3_000_000);
    const failed = new Promise((resolve) => body.once('error', resolve));
    body.resume();
    incoming.write('some');
    incoming.silent();
    expect(await failed).toMatchObject({ code: 'request_timeout' });
  });

  test('that waits for its reader does not, however long', async () => {
    const { incoming, request } = exchange();
    const body = request.body(3_000_000);
    incoming.write(Buffer.alloc(2_000_000));
    await new Promise((resolve) => setImmediate(resolve));
    incoming.silent();
    expect([incoming.isPaused(), body.destroyed]).toEqual([true, false]);
  });

  test('that is whole is no longer watched', async () => {
    const { incoming, request } = exchange();
    request.body(3_000_000).resume();
    incoming.end('abc');
    await new Promise((resolve) => incoming.once('end', resolve));
    expect(incoming.timeouts.at(-1)).toBe(0);
  });
});

test('an IPv4 address is spelled in dots also when it came mapped', () => {
  expect(exchange().request.remoteAddress).toBe('10.0.0.1');
});

test.each([
  ['HPE_HEADER_OVERFLOW', 'uri_too_long'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request_timeout'],
  ['HPE_INVALID_METHOD', 'invalid_request'],
  ['HPE_INVALID_CONTENT_LENGTH', 'invalid_request'],
  ['HPE_INVALID_EOF_STATE', undefined],
  ['ECONNRESET', undefined],
  ['ERR_SSL_HTTP_REQUEST', undefined],
])('%s is told as %s', (code, expected) => {
  expect(refusalOfBroken(code, 8192)?.code).toBe(expected);
});
