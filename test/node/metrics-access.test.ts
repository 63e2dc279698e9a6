// Who may read the metrics: they say how much is used, and what it costs.
import { expect, test } from 'vitest';
import type { RouteContext } from '../../src/http/router.ts';
import { getMetrics } from '../../src/node/routes/health.ts';

const TOKEN = 'a metrics token of some length'.replaceAll(' ', '-');

/** The status that a scrape is answered with. */
async function scrape(
  access: { token: string | undefined; isPrivate: boolean },
  sent: Record<string, string> = {},
  remoteAddress = '127.0.0.1',
) {
  const headers = new Map(Object.entries({ host: '127.0.0.1:8080', ...sent }));
  const read = async () => ({ contentType: 'text/plain', body: 'voxgate 1' });
  const context = { request: { headers, remoteAddress } } as unknown as RouteContext;
  return getMetrics(
    read,
    access,
  )(context).then(
    ({ status }) => status,
    ({ code }: { code: string }) => code,
  );
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test.each([
  ['without a token, on a private node', undefined, true, {}, 200],
  ['without a token, on a public node', undefined, false, {}, 'not_found'],
  ['without a token, on a public node, with any header', undefined, false, bearer(TOKEN), 'not_found'],
  ['with the token', TOKEN, false, bearer(TOKEN), 200],
  ['with the token, under any name', TOKEN, false, { ...bearer(TOKEN), host: 'gateway.example' }, 200],
  ['with another', TOKEN, false, bearer(`${TOKEN}x`), 'not_found'],
  ['with none, also on a private node', TOKEN, true, {}, 'not_found'],
  ['with a header other than a bearer credential', TOKEN, true, { authorization: `Basic ${TOKEN}` }, 'not_found'],
])('%s', async (_, token, isPrivate, sent, expected) => {
  expect(await scrape({ token, isPrivate }, sent)).toBe(expected);
});

test.each([
  ['localhost', { host: 'localhost:8080' }, 200],
  ['IPv6', { host: '[::1]:8080' }, 200],
  ['a name that a page has given this machine', { host: 'rebound.example:8080' }, 'not_found'],
  ['a name that begins like this machine', { host: '127.0.0.1.rebound.example' }, 'not_found'],
  ['no name', { host: '' }, 'not_found'],
  ['a proxy on this machine', { 'x-forwarded-for': '203.0.113.9' }, 'not_found'],
])('answers on a private node without a token, requested through %s', async (_, sent, expected) => {
  expect(await scrape({ token: undefined, isPrivate: true }, sent)).toBe(expected);
});

test('answers no other machine on a private node', async () => {
  expect(await scrape({ token: undefined, isPrivate: true }, {}, '203.0.113.9')).toBe('not_found');
});
