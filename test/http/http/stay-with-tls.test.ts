// When a browser is told to come by TLS only: wherever TLS is, by whoever may say so.
import { expect, test } from 'vitest';
import { createStayWithTls, STAY_WITH_TLS } from '../../../src/http/proxies.ts';

test.each<[string, boolean, string | undefined, string, string | undefined, boolean]>([
  ['TLS at the server or in the public URL', true, undefined, '198.51.100.7', undefined, true],
  ['nothing', false, undefined, '10.0.0.1', undefined, false],
  ['a client that says so of itself', false, undefined, '198.51.100.7', 'https', false],
  ['a client that is not a trusted proxy', false, '10.0.0.0/8', '198.51.100.7', 'https', false],
  ['a trusted proxy that says so', false, '10.0.0.0/8', '10.0.0.1', 'https', true],
  ['a trusted proxy that says so in capitals', false, '10.0.0.0/8', '10.0.0.1', 'HTTPS', true],
  ['a trusted proxy behind another', false, '10.0.0.0/8', '10.0.0.1', 'http, https', true],
  ['a trusted proxy that was reached without', false, '10.0.0.0/8', '10.0.0.1', 'https, http', false],
  ['a trusted proxy that says nothing', false, '10.0.0.0/8', '10.0.0.1', undefined, false],
  ['a trusted proxy with an empty word', false, '10.0.0.0/8', '10.0.0.1', '', false],
])('%s', (_, always, trustedProxies, remoteAddress, proto, expected) => {
  const headers = new Map(proto === undefined ? [] : [['x-forwarded-proto', proto]]);
  const told = createStayWithTls({ always, trustedProxies })({ headers, remoteAddress });
  expect(told).toEqual(expected ? STAY_WITH_TLS : {});
});
