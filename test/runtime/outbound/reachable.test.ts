// Where events may be posted to: never into the operator's own network, by whatever name or address.
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPoster } from '../../../src/live/calls/webhook.ts';
import { parseNetworks } from '../../../src/runtime/network-addresses.ts';
import {
  internetLookup,
  isReachable,
  NotReachable,
  type Resolve,
  reachableLookup,
} from '../../../src/runtime/outbound/reachable.ts';

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

describe('names', () => {
  /** A DNS server that answers for some names when it is told to. */
  async function dnsServer() {
    const socket = createSocket('udp4');
    const waiting: (() => void)[] = [];
    const answer = (query: Buffer, port: number, address: string) => {
      // The name begins behind the header, and ends with an empty label; its type follows.
      const end = query.indexOf(0, 12) + 1;
      const name = query.subarray(12, end).toString('latin1');
      const isFour = query.readUInt16BE(end) === 1 && name.includes('known');
      const head = Buffer.from(query.subarray(0, end + 4));
      head.writeUInt16BE(name.includes('known') ? 0x8180 : 0x8183, 2);
      head.writeUInt16BE(isFour ? 1 : 0, 6);
      head.writeUInt32BE(0, 8);
      const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 93, 184, 216, 34]);
      socket.send(Buffer.concat(isFour ? [head, record] : [head]), port, address);
    };
    socket.on('message', (query, { port, address }) => {
      const answerNow = () => answer(query, port, address);
      if (query.includes('late')) waiting.push(answerNow);
      else answerNow();
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    onTestFinished(() => void socket.close());
    const answerLate = () => {
      for (const each of waiting.splice(0)) each();
    };
    return { address: `127.0.0.1:${socket.address().port}`, answerLate };
  }
  const found = (resolve: Resolve, name: string) =>
    new Promise((answered) =>
      resolve(name, { all: true }, (error, addresses) => answered(error === null ? addresses : error)),
    );

  test('that are answered late delay neither each other nor the lookups of the system', async () => {
    const server = await dnsServer();
    const resolve = internetLookup([server.address]);
    let late = 64;
    const waiting = Array.from({ length: late }, (_, index) =>
      found(resolve, `late-${index}.example`).then((error) => {
        late--;
        return (error as NodeJS.ErrnoException).code;
      }),
    );
    expect(await found(resolve, 'known.example')).toEqual([{ address: '93.184.216.34', family: 4 }]);
    await lookup('localhost');
    expect(late).toBe(64);
    server.answerLate();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['ENOTFOUND']));
  });

  test('that are unknown, or mean this machine, find nothing', async () => {
    const { address } = await dnsServer();
    const resolve = internetLookup([address]);
    expect(await found(resolve, 'none.example')).toMatchObject({ code: 'ENOTFOUND' });
    expect(await found(internetLookup(['127.0.0.1:1']), 'known.example')).toMatchObject({ code: 'EAI_AGAIN' });
    for (const name of ['localhost', 'LOCALHOST.', 'a.localhost'])
      expect(await found(resolve, name)).toBeInstanceOf(NotReachable);
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
