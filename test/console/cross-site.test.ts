// What another site's page can do with a person's cookie: nothing, at any endpoint of the console there is; and every HTML answer
// forbids to be framed, and everything but what it needs.
import { beforeAll, describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/accounts/console-login/roles.ts';
import { CONSOLE_PATHS } from '../../src/api/console/pages.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { type LivePerson, livePerson } from '../fakes/processes/live-person.ts';

const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery staple';
const BEFORE_LOGIN = ['POST sign-up', 'POST login', 'POST password-reset-request'];

let live: LiveGateway;
let ada: LivePerson;
beforeAll(async () => {
  live = await startLiveGateway();
  ada = await livePerson(live, EMAIL, PASSWORD);
  expect((await ada.call('POST', 'keys', { name: 'The only one' })).status).toBe(201);
});

const JSON_TYPE = { 'Content-Type': 'application/json' };
const ASKED = { 'X-Requested-With': 'console' };
const SAME = { 'Sec-Fetch-Site': 'same-origin' };

const ATTACKS: readonly [what: string, headers: Record<string, string>, code: string][] = [
  ['of another site', { ...JSON_TYPE, ...ASKED, 'Sec-Fetch-Site': 'cross-site' }, 'cross_site_request'],
  ['of another host of the site', { ...JSON_TYPE, ...ASKED, 'Sec-Fetch-Site': 'same-site' }, 'cross_site_request'],
  ['with a foreign origin', { ...JSON_TYPE, ...ASKED, Origin: 'https://evil.example' }, 'cross_site_request'],
  ['that says nothing of where it is from', { ...JSON_TYPE, ...ASKED }, 'cross_site_request'],
  ['of a form of plain text', { ...SAME, ...ASKED, 'Content-Type': 'text/plain' }, 'unsupported_media_type'],
  ['without the header of the console', { ...JSON_TYPE, ...SAME }, 'cross_site_request'],
];

const unsafe = [...Object.keys(ENDPOINTS), ...BEFORE_LOGIN].filter((endpoint) => !endpoint.startsWith('GET '));

/** A body that each of them would take, or come to look at. */
const BODY = { email: 'eve@example.com', password: PASSWORD, name: 'Minted by another site', provider: 'deepgram' };

/** What a person can see of the organisation, but for the moments of looking. */
async function everything(): Promise<string> {
  const lists = Object.keys(ENDPOINTS).filter((endpoint) => /^GET (?!models|machines)[^:]+$/.test(endpoint));
  const answers = await Promise.all(
    lists.map(async (endpoint) => (await ada.call('GET', endpoint.slice('GET '.length))).text()),
  );
  return answers.map((text) => text.replace(/"(?:to|from|seen_at|request_id)":"[^"]*"/g, '')).join('\n');
}

describe('a request', () => {
  test.each(ATTACKS)(
    '%s is refused at every endpoint that changes something, and changes nothing',
    async (...attack) => {
      const [, headers, code] = attack;
      expect(unsafe.length).toBeGreaterThan(15);
      const before = await everything();
      for (const endpoint of unsafe) {
        const [method = '', path = ''] = endpoint.split(' ');
        const { cookie } = ada;
        const answer = await live.request(`/console/api/${path.replaceAll(/:\w+/g, 'some')}`, {
          method,
          headers: { ...headers, cookie },
          body: JSON.stringify(BODY),
        });
        const { error } = (await answer.json()) as { error: { code: string } };
        expect([endpoint, error.code, answer.headers.get('set-cookie')]).toEqual([endpoint, code, null]);
        expect([endpoint, answer.headers.get('access-control-allow-origin')]).toEqual([endpoint, null]);
      }
      expect(await everything()).toBe(before);
    },
  );

  test('fails for other origins and stays out of every cache when it reads', async () => {
    for (const endpoint of Object.keys(ENDPOINTS).filter((each) => /^GET [^:]+$/.test(each))) {
      const path = `/console/api/${endpoint.slice('GET '.length)}`;
      const answer = await live.request(path, { headers: { cookie: ada.cookie, Origin: 'https://evil.example' } });
      await answer.text();
      const { headers } = answer;
      const said = ['access-control-allow-origin', 'access-control-allow-credentials', 'cache-control'];
      expect([path, ...said.map((name) => headers.get(name))]).toEqual([path, null, null, 'no-store']);
    }
  });
});

test('binds the cookie to this host without scripts or other sites, and renews it at login', async () => {
  const login = (cookie: string) =>
    live.request('/console/api/login', {
      method: 'POST',
      headers: { ...JSON_TYPE, ...ASKED, ...SAME, cookie },
      body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
    });
  const first = (await login('')).headers.get('set-cookie') ?? '';
  expect(first).toMatch(/^sid=[\w-]{43};/);
  for (const attribute of ['HttpOnly', 'SameSite=Strict', 'Path=/']) expect(first).toContain(attribute);
  expect(first).not.toMatch(/domain/i);
  const mine = first.split(';')[0] as string;
  const second = ((await login(mine)).headers.get('set-cookie') ?? '').split(';')[0];
  expect(second).not.toBe(mine);
  expect((await live.request('/console/api/me', { headers: { cookie: mine } })).status).toBe(401);
});

describe('every HTML answer', () => {
  const token = 'x'.repeat(43);
  const pages = [
    ...CONSOLE_PATHS.map((path) => path.replaceAll(/:\w+/g, 'some')),
    ...['/verify', '/reset-password', '/join'].map((path) => `${path}?token=${token}`),
    ...['/console/outbox', '/docs', '/docs/rest', '/docs/live', '/docs/guides/failover'],
    '/console/api/bills/2026-11?format=html',
  ];

  test.each(pages)('sends a strict policy, frame and type protection for %s', async (path) => {
    const answer = await live.request(path, { headers: { Accept: 'text/html', cookie: ada.cookie } });
    await answer.text();
    const { headers } = answer;
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = new Map(
      (headers.get('content-security-policy') ?? '').split('; ').map((line) => {
        const [name = '', ...sources] = line.split(' ');
        return [name, sources.join(' ')] as const;
      }),
    );
    expect([policy.get('default-src'), policy.get('frame-ancestors'), policy.get('base-uri')]).toEqual([
      "'none'",
      "'none'",
      "'none'",
    ]);
    expect([...policy.values()].filter((sources) => /unsafe|\*|https?:(?!\/\/127)/.test(sources))).toEqual([]);
    expect(["'self'", undefined]).toContain(policy.get('script-src'));
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect([headers.get('server'), headers.get('x-powered-by')]).toEqual([null, null]);
  });
});
