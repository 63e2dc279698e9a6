// Where events may be posted to: never into the operator's own network, by whatever name or address.
import { describe, expect, test } from 'vitest';
import { openPoster } from '../../../src/live/calls/webhook.ts';
import { parseNetworks } from '../../../src/runtime/network-addresses.ts';
import { isReachable, reachableLookup } from '../../../src/runtime/outbound/reachable.ts';

const PRIVATE = [
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
  ...['192.168.0.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::a00:1', 'fc00::1', 'fd12::1', 'fe80::1', 'ff02::1'],
  ...['2001:db8::1', '2002:7f00:1::', '2001::1', 'no address', ''],
];
const PUBLIC = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'];

describe('addresses', () => {
  test.each(PRIVATE)('%s is not reached', (address) => {
    expect(isReachable(address, undefined, true)).toBe(false);
  });

  test.each(PUBLIC)('%s is reached with TLS, and without it not', (address) => {
    expect(isReachable(address, undefined, true)).toBe(true);
    expect(isReachable(address, undefined, false)).toBe(false);
  });

  test('those of the operator’s networks are, also without TLS', () => {
    const networks = parseNetworks('10.0.0.0/8');
    expect(isReachable('10.1.2.3', networks, false)).toBe(true);
    expect(isReachable('192.168.0.1', networks, true)).toBe(false);
  });
});

describe('names and addresses in URLs', () => {
  test('blocks a name of this machine in either form of a lookup', async () => {
    for (const all of [true, false]) {
      const error = await new Promise((resolve) =>
        reachableLookup(undefined, true)('localhost', { all }, (failure) => resolve(failure)),
      );
      expect(String(error)).toContain('localhost is not an address that customers may have requests sent to');
    }
  });

  test.each([
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::ffff:10.0.0.1]/',
    'http://8.8.8.8/',
    'https://localhost:1/',
  ])('%s is refused before a connection is made', async (url) => {
    const poster = openPoster(undefined);
    await expect(poster.postOf('org_1')(new URL(url), {}, '{}')).rejects.toThrow(
      'is not an address that customers may have requests sent to',
    );
    poster.close();
  });
});
