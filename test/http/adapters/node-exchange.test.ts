// What node:http leaves to this server: what is said to bytes that are no request, and to whom.
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { apiErrorOfBroken, NodeExchange } from '../../../src/http/node/server.ts';

test('writes a mapped IPv4 address in dots', () => {
  const incoming = Object.assign(new PassThrough(), {
    method: 'GET',
    url: '/',
    rawHeaders: [],
    socket: { remoteAddress: '::ffff:10.0.0.1' },
  });
  const response = Object.assign(new EventEmitter(), { writableFinished: false });
  const { request } = new NodeExchange(incoming as unknown as IncomingMessage, response as unknown as ServerResponse);
  expect(request.remoteAddress).toBe('10.0.0.1');
});

test.each([
  ['HPE_HEADER_OVERFLOW', 'uri_too_long'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request_timeout'],
  ['HPE_INVALID_METHOD', 'invalid_request'],
  ['HPE_INVALID_CONTENT_LENGTH', 'invalid_request'],
  ['HPE_INVALID_EOF_STATE', undefined],
  ['ECONNRESET', undefined],
  ['ERR_SSL_HTTP_REQUEST', undefined],
])('reports %s as %s', (code, expected) => {
  expect(apiErrorOfBroken(code, 8192)?.code).toBe(expected);
});
