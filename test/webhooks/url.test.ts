// Which URLs customers may have something posted to, before any connection is made.
import { BlockList } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { checkedCallbackUrl, checkedUrl } from '../../src/webhooks/url.ts';

const networks = new BlockList();
networks.addSubnet('10.1.0.0', 16);

describe('the address of a callback', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://Example.com:8443/hook', 'https://example.com:8443/hook'],
    ['https://user:p%40ss@example.com/hook?a=b&c=d#part', 'https://user:p%40ss@example.com/hook?a=b&c=d'],
    ['https://xn--bcher-kva.example/%E2%9C%93', 'https://xn--bcher-kva.example/%E2%9C%93'],
    ['https://bücher.example/✓', 'https://xn--bcher-kva.example/%E2%9C%93'],
    ['https://93.184.215.14/hook', 'https://93.184.215.14/hook'],
    ['https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/hook', 'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/hook'],
    [`https://example.com/${'a'.repeat(2_000)}`, `https://example.com/${'a'.repeat(2_000)}`],
  ])('may be %s', (text, url) => expect(checkedCallbackUrl(text, undefined, 'callback')).toBe(url));

  it.each(['http://10.1.2.3/hook', 'https://10.1.2.3/hook', 'http://receiver.internal/hook'])(
    'may be %s where the operator has listed its network',
    (text) => expect(checkedCallbackUrl(text, networks, 'callback')).toBe(text),
  );

  it.each([
    ...['http://example.com', 'ftp://example.com', 'file:///etc/passwd', 'javascript:1', 'hook', '', 'https://'],
    ...['https://127.0.0.1', 'https://127.1', 'https://2130706433', 'https://0x7f000001', 'https://0177.0.0.1'],
    ...['https://[::1]', 'https://[::ffff:127.0.0.1]', 'https://[::ffff:7f00:1]', 'https://[fe80::1]'],
    ...['https://169.254.169.254/latest/meta-data', 'https://10.1.2.3', 'https://0.0.0.0', 'https://[64:ff9b::7f00:1]'],
    `https://example.com/${'a'.repeat(2_100)}`,
    `https://example.com/${'✓'.repeat(300)}`,
  ])('is refused as %s, by the name that the client has for it', (text) => {
    const check = () => checkedCallbackUrl(text, undefined, 'callback_config.url');
    expect(check).toThrow(ApiError);
    expect(check).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^`callback_config\.url` /),
        extras: { param: 'callback_config.url' },
      }),
    );
  });
});

it.each(['https://user@example.com', 'https://example.com/#part', 'http://example.com'])(
  'the URL of a webhook is refused as %s',
  (text) => expect(() => checkedUrl(text, undefined)).toThrow('without a user name or a fragment'),
);

it('the URL of a webhook loses a fragment that is empty', () =>
  expect(checkedUrl('https://example.com/hook#', undefined)).toBe('https://example.com/hook'));
