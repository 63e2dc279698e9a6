// Whose request it is behind proxies: who is believed, and what of `X-Forwarded-For`.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRemoteAddress } from '../../../src/http/proxies.ts';
import { emptyBody } from '../../../src/http/request-body.ts';
import type { ServerRequest } from '../../../src/http/server.ts';

const TRUSTED = '10.0.0.0/8, 192.0.2.1, fd00::/8';

function request(remoteAddress: string, forwarded: string | undefined): ServerRequest {
  return {
    method: 'GET',
    path: '/',
    query: '',
    headers: new Map(forwarded === undefined ? [] : [['x-forwarded-for', forwarded]]),
    remoteAddress,
    signal: new AbortController().signal,
    body: () => emptyBody(),
  };
}

const seen = (trusted: string | undefined, peer: string, forwarded: string | undefined): string =>
  createRemoteAddress(trusted)(request(peer, forwarded)).remoteAddress;

describe('trusted proxies', () => {
  test.each([
    ['no header', '10.0.0.1', undefined, '10.0.0.1'],
    ['an empty header', '10.0.0.1', '', '10.0.0.1'],
    ['one hop', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['a header from a peer that is not trusted', '198.51.100.9', '203.0.113.1', '198.51.100.9'],
    ['a header in which the client claims another address', '10.0.0.1', '203.0.113.1, 198.51.100.7', '198.51.100.7'],
    ['two proxies', '10.0.0.1', '198.51.100.7, 10.0.0.2', '198.51.100.7'],
    ['two proxies and a claim', '10.0.0.1', '203.0.113.1, 198.51.100.7, 192.0.2.1', '198.51.100.7'],
    ['proxies only', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['a claim to be a proxy, and another behind it', '10.0.0.1', '203.0.113.1, 10.0.0.9, 198.51.100.7', '198.51.100.7'],
    ['spaces and tabs', '10.0.0.1', '\t198.51.100.7 ,  10.0.0.2 ', '198.51.100.7'],
    ['a port', '10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
    ['IPv6', 'fd00::1', '2001:db8::7', '2001:db8::7'],
    ['IPv6 in brackets', 'fd00::1', '[2001:db8::7]', '2001:db8::7'],
    ['IPv6 in brackets with a port', 'fd00::1', '[2001:DB8:0:0::7]:4711', '2001:db8::7'],
    ['IPv4 mapped into IPv6', '10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
    ['a proxy mapped into IPv6', '10.0.0.1', '198.51.100.7, ::ffff:10.0.0.2', '198.51.100.7'],
    ['a hop that is not an address', '10.0.0.1', '198.51.100.7, unknown', '10.0.0.1'],
    ['a hop that is not an address, further away', '10.0.0.1', '198.51.100.7, _hidden, 10.0.0.2', '10.0.0.2'],
    ['an empty hop', '10.0.0.1', '198.51.100.7,', '10.0.0.1'],
    ['a name', '10.0.0.1', 'example.com', '10.0.0.1'],
    ['an address in other digits', '10.0.0.1', '0x7f.1', '10.0.0.1'],
  ])('give the client’s address for %s', (_, peer, forwarded, expected) => {
    expect(seen(TRUSTED, peer, forwarded)).toBe(expected);
  });

  test('leave the rest of the request unchanged', () => {
    const before = request('10.0.0.1', '198.51.100.7');
    expect(createRemoteAddress(TRUSTED)(before)).toEqual({ ...before, remoteAddress: '198.51.100.7' });
  });
});

test('ignores forwarded addresses without trusted proxies', () => {
  expect(seen(undefined, '10.0.0.1', '198.51.100.7')).toBe('10.0.0.1');
});

test('keeps an untrusted peer’s address for any header; always yields an address for a trusted one', () => {
  const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom('10.0.0.2', 'unknown', ''));
  fc.assert(
    fc.property(fc.array(hop, { maxLength: 6 }), (hops) => {
      const forwarded = hops.join(', ');
      expect(seen(TRUSTED, '198.51.100.9', forwarded)).toBe('198.51.100.9');
      expect(seen(TRUSTED, '10.0.0.1', forwarded)).toMatch(/^[\da-f.:]+$/);
    }),
    { numRuns: 500, seed: 7 },
  );
});
