// Which texts are e-mail addresses, which of them are one mailbox, and who counts as one client.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseEmail } from '../../../src/accounts/people/addresses.ts';
import { networkOf } from '../../../src/runtime/network-addresses.ts';

describe('an e-mail address', () => {
  test.each([
    ['ada@example.com', 'ada@example.com', 'ada@example.com'],
    [' Ada@Example.COM ', 'Ada@example.com', 'ada@example.com'],
    ['ada+news@example.com', 'ada+news@example.com', 'ada@example.com'],
    ['ada+a+b@example.com', 'ada+a+b@example.com', 'ada@example.com'],
    ['ada.+news@example.com', 'ada.+news@example.com', 'ada@example.com'],
    ['a.d.a@example.com', 'a.d.a@example.com', 'a.d.a@example.com'],
    ['A.d.a+x@gmail.com', 'A.d.a+x@gmail.com', 'ada@gmail.com'],
    ['a.d.a@GoogleMail.com', 'a.d.a@googlemail.com', 'ada@gmail.com'],
    ['ada@gmail.com.example.com', 'ada@gmail.com.example.com', 'ada@gmail.com.example.com'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['ada@ＧＭＡＩＬ.com', 'ada@gmail.com', 'ada@gmail.com'],
    ['+tag@example.com', '+tag@example.com', '+tag@example.com'],
    [
      "o'hara!#$%&*/=?^_`{|}~-@example.com",
      "o'hara!#$%&*/=?^_`{|}~-@example.com",
      "o'hara!#$%&*/=?^_`{|}~-@example.com",
    ],
  ])('%s is mailed to %s and known as %s', (typed, email, address) => {
    expect(parseEmail(typed)).toEqual({ email, address });
  });

  test.each([
    '',
    '@',
    'ada',
    'ada@',
    '@example.com',
    'ada@localhost',
    'ada@example..com',
    'ada@-example.com',
    'ada@example.c',
    'ada@127.0.0.1',
    'ada@[127.0.0.1]',
    'ada@example.com.',
    '.ada@example.com',
    'ada.@example.com',
    'a..a@example.com',
    'a b@example.com',
    'ada@exa mple.com',
    '"ada"@example.com',
    'ada@example.com, bob@example.com',
    'ada@example.com\nBcc: bob@example.com',
    'ada\0@example.com',
    'Ada <ada@example.com>',
    'ädä@example.com',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a.'.repeat(130)}com`,
  ])('%j is none', (typed) => {
    expect(parseEmail(typed)).toBeUndefined();
  });

  test('stays the same however often it is normalised, and never breaks a line', () => {
    fc.assert(
      fc.property(fc.oneof(fc.emailAddress(), fc.string({ unit: 'binary', maxLength: 40 })), (typed) => {
        const parsed = parseEmail(typed);
        if (parsed === undefined) return;
        expect(parseEmail(parsed.email)).toEqual(parsed);
        expect(parseEmail(parsed.address)?.address).toBe(parsed.address);
        expect(parsed.email).toMatch(/^[!-~]+@[a-z0-9.-]+$/);
      }),
      { numRuns: 1000, seed: 1 },
    );
  });
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:ffff::2', '2001:db8:0:0::/64'],
  ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:3::', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['', ''],
])('counts the client at %s as %s', (address, group) => {
  expect(networkOf(address)).toBe(group);
});
