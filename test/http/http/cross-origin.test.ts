// What pages of other origins may send and read: every endpoint of the interface and of other vendors' clients, and nothing else.
import { beforeAll, describe, expect, it } from 'vitest';
import { dialects } from '../../../src/vendors/dialects.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { createKeys } from '../../fakes/store/store-keys.ts';

const PAGE = 'https://app.example.com';
/** What the vendors' own clients for browsers send. */
const SENT =
  'authorization,content-type,openai-beta,openai-organization,x-stainless-arch,x-stainless-helper-method,x-stainless-lang,x-stainless-os,x-stainless-package-version,x-stainless-retry-count,x-stainless-runtime,x-stainless-runtime-version,x-stainless-timeout,xi-api-key,x-gladia-key,x-client-info,dg-sdk.version';

let live: LiveGateway;
let paged: string;
beforeAll(async () => {
  live = await startLiveGateway();
  const [key] = await createKeys(live.directory, [{ origins: [PAGE] }]);
  paged = key!.secret;
});

const ID = '00000000-0000-4000-8000-000000000000';
const pathsOf = (endpoints: object = {}, method = 'POST') =>
  Object.keys(endpoints).map((path) => [method, path] as const);
/** Each endpoint by HTTP, with the key in the header of the dialect. */
const ENDPOINTS: (readonly [method: string, path: string])[] = [
  ['GET', '/v1/models'],
  ['GET', '/v1/models/local/commands-en'],
  ['GET', '/compat/openai/v1/models'],
  ['POST', '/v1/audio/transcriptions'],
  ['POST', '/v1/tokens'],
  ['GET', '/v1/usage'],
  ['GET', '/v1/balance'],
  ['GET', '/v1/sessions'],
  ['GET', `/v1/sessions/ses_1/events`],
  ['GET', '/v1/bills/2026-01'],
  ...dialects.flatMap(({ name, files, jsonFiles, forms, calls, jobs = {}, sessions = {}, tokens = {} }) =>
    [
      ...[files, jsonFiles, forms, calls].flatMap((endpoints) => pathsOf(endpoints)),
      ...[jobs, sessions, tokens]
        .flatMap((endpoints) => Object.keys(endpoints))
        .map((place) => place.split(' ') as [string, string]),
    ].map(([method, path]) => [method, `/compat/${name}${path.replace(':id', ID)}`] as const),
  ),
  // Clients that can be given no path, and paths that are not served.
  ['POST', '/v2/live'],
  ['GET', `/v2/pre-recorded/${ID}`],
  ['GET', '/v1/none'],
  ['GET', '/compat/deepgram/v1/none'],
];

const readableBy = ({ headers }: Response) => headers.get('access-control-allow-origin');
const asPage = (path: string, init: RequestInit & { origin?: string } = {}) =>
  fetch(live.url + path, { ...init, headers: { Origin: init.origin ?? PAGE, ...init.headers } });

describe.each(ENDPOINTS)('%s %s', (method, path) => {
  it('answers the preflight with any headers of the client', async () => {
    const headers = { 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': SENT };
    const { status, headers: answered } = await asPage(path, { method: 'OPTIONS', headers });
    expect(status).toBe(204);
    expect(Object.fromEntries(answered)).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': expect.stringMatching(`\\b${method}\\b`),
      'access-control-allow-headers': SENT,
      vary: 'Origin',
    });
    expect(answered.has('access-control-allow-credentials')).toBe(false);
  });

  it('sends its headers with what it answers and refuses', async () => {
    const keys = (secret: string) => ({
      ...{ Authorization: `Bearer ${secret}`, 'xi-api-key': secret, 'x-gladia-key': secret },
    });
    for (const headers of [{}, keys('sk_vox_none'), keys(live.key), keys(paged)]) {
      const answer = await asPage(path, { method, headers: { 'Content-Type': 'application/json', ...headers } });
      await answer.arrayBuffer();
      expect([answer.status < 500, readableBy(answer), answer.headers.get('access-control-expose-headers')]).toEqual([
        ...[true, PAGE, '*'],
      ]);
    }
  });
});

describe('a page', () => {
  it('reads neither answer nor reason from an origin that the key excludes', async () => {
    for (const path of ['/v1/models', '/compat/openai/v1/models']) {
      const answer = await asPage(path, {
        origin: 'https://evil.example',
        headers: { Authorization: `Bearer ${paged}` },
      });
      expect([answer.status, readableBy(answer)]).toEqual([403, null]);
    }
  });

  it('learns the allowed method when it tries another', async () => {
    const answer = await asPage('/v1/tokens', { method: 'PUT', headers: { Authorization: `Bearer ${live.key}` } });
    expect([answer.status, readableBy(answer)]).toEqual([405, PAGE]);
  });

  it.each(['/console/api/session', '/metrics', '/healthz', '/'])('gets no access to %s', async (path) => {
    const asked = await asPage(path, { method: 'OPTIONS', headers: { 'Access-Control-Request-Method': 'GET' } });
    const answer = await asPage(path);
    await answer.arrayBuffer();
    expect([asked.status === 204, readableBy(asked), readableBy(answer)]).toEqual([false, null, null]);
  });
});
