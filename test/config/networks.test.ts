// Lists of networks: what is one, and what is in it.
import { describe, expect, test } from 'vitest';
import { isWithin, parseNetworks } from '../../src/runtime/network-addresses.ts';

test.each([
  '',
  ' ',
  'nginx',
  '10.0.0.0/8,',
  ',10.0.0.1',
  '10.0.0.0/8 10.1.0.0/16',
  '10.0.0.0/0',
  '::/0',
  '10.0.0.0/33',
  '::/129',
  '10.0.0.0/',
  '10.0.0.0/-8',
  '10.0.0.0/8/8',
  '10.0.0.0/0x8',
  '10.0.0.0/8.5',
  '10.0.0.256',
  '10.0.0',
  '010.0.0.1',
  '10.0.0.1:80',
  '[::1]',
  'fe80::1%eth0',
  'fe80::1%eth0/64',
  '*',
  Array.from({ length: 257 }, () => '10.0.0.1').join(','),
])('rejects %j as a list of networks', (text) => {
  expect(parseNetworks(text)).toBeUndefined();
});

describe('a list of networks', () => {
  const list = parseNetworks(' 10.1.2.3/8, 192.0.2.7 ,fd00::/8,2001:db8::1')!;

  test.each([
    ['10.255.255.255', true],
    ['11.0.0.0', false],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['fdff::1', true],
    ['fe00::1', false],
    ['2001:db8:0:0:0:0:0:1', true],
    ['2001:db8::2', false],
    ['nginx', false],
    ['', false],
  ])('says of %s: %s', (address, isIn) => {
    expect(isWithin(list, address)).toBe(isIn);
  });
});
