// Who may read the metrics: they say how much is used, and what it costs.
import { expect, test } from 'vitest';
import type { RouteContext } from '../../src/edge/router.ts';
import { getMetrics } from '../../src/edge/routes/health.ts';

const TOKEN = 'a metrics token of some length'.replaceAll(' ', '-');

/** The status that a scrape is answered with. */
async function scrape(access: { token: string | undefined; isPrivate: boolean }, authorization?: string) {
  const headers = new Map(authorization === undefined ? [] : [['authorization', authorization]]);
  const read = async () => ({ contentType: 'text/plain', body: 'voxgate 1' });
  const context = { request: { headers } } as unknown as RouteContext;
  return getMetrics(
    read,
    access,
  )(context).then(
    ({ status }) => status,
    ({ code }: { code: string }) => code,
  );
}

test.each([
  ['without a token, where nobody else reaches the node', undefined, true, undefined, 200],
  ['without a token, where others do', undefined, false, undefined, 'not_found'],
  ['without a token, where others do, whatever is sent', undefined, false, `Bearer ${TOKEN}`, 'not_found'],
  ['with the token', TOKEN, false, `Bearer ${TOKEN}`, 200],
  ['with another', TOKEN, false, `Bearer ${TOKEN}x`, 'not_found'],
  ['with none, also where nobody else reaches the node', TOKEN, true, undefined, 'not_found'],
  ['with what is no bearer credential', TOKEN, true, `Basic ${TOKEN}`, 'not_found'],
])('%s', async (_, token, isPrivate, authorization, expected) => {
  expect(await scrape({ token, isPrivate }, authorization)).toBe(expected);
});
