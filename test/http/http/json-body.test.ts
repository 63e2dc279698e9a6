// JSON bodies are taken as they are: what says that it is compressed is refused, not parsed.
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readJson } from '../../../src/http/json-body.ts';
import type { ServerRequest } from '../../../src/http/server.ts';

const requestWith = (headers: Record<string, string>, body = '{"ttl_seconds":60}') =>
  ({
    headers: new Map(Object.entries({ 'content-type': 'application/json', ...headers })),
    body: () => Readable.from([Buffer.from(body)]),
  }) as unknown as ServerRequest;

test.each(['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip', 'unknown'])(
  'refuses a body with the encoding %s as an unsupported media type',
  async (encoding) => {
    await expect(readJson(requestWith({ 'content-encoding': encoding }), 1_000)).rejects.toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
      message: 'The request has a `Content-Encoding`. Send the body as it is, without compression.',
    });
  },
);

test.each(['identity', ' Identity ', ''])('reads a body with the encoding "%s" as it is', async (encoding) => {
  expect(await readJson(requestWith({ 'content-encoding': encoding }), 1_000)).toEqual({ ttl_seconds: 60 });
});

test.each(['[]', '{"a":}'])('accepts a body whose %s are nested a hundred deep, and refuses one more', async (pair) => {
  const nested = (depth: number) =>
    `${pair.slice(0, -1).repeat(depth)}${pair === '[]' ? '' : '1'}${pair.slice(-1).repeat(depth)}`;
  expect(await readJson(requestWith({}, nested(100)), 100_000)).toBeDefined();
  await expect(readJson(requestWith({}, nested(101)), 100_000)).rejects.toMatchObject({ code: 'invalid_request' });
});
