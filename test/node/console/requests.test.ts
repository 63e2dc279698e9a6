// What stands before the console: requests of other pages, cookies, members that nobody knows, and the headers of every answer.
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Browser,
  type ConsoleRig,
  openAccount,
  openConsoleRig,
  PASSWORD,
} from '../../accounts/people/console-rig.ts';

let rig: ConsoleRig;
let ada: Browser;
beforeAll(async () => {
  rig = await openConsoleRig({
    further: [
      (consoleRoute) => [
        {
          ...consoleRoute('POST confirm', async ({ organisationId }) => ({ status: 200, body: organisationId })),
          path: '/console/api/echo',
        },
      ],
    ],
    routes: [{ method: 'GET', path: '/v1/models', handle: async () => ({ status: 401, body: 'no key' }) }],
  });
  ada = await openAccount(rig, 'ada@example.com');
});

const JSON_TYPE = { 'Content-Type': 'application/json' };
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' };
const CONSOLE = { 'X-Requested-With': 'console' };
const SAME = { 'Sec-Fetch-Site': 'same-origin' };

describe('a request that changes something', () => {
  const sent = (headers: Record<string, string>, path = '/console/api/echo') =>
    ada.ask('POST', path, '{}', { Host: 'voxgate.example', ...headers });
  // With a foreign host the cookie has its strict name.
  const cookie = () => ({ Cookie: `__Host-${ada.cookie}` });

  test.each<[string, Record<string, string>]>([
    ['its own page', SAME],
    ['its own page, with any origin', { ...SAME, Origin: 'https://evil.example' }],
    ['an older browser on its own page', { Origin: 'https://voxgate.example' }],
    ['an older browser on its own page without TLS', { Origin: 'http://voxgate.example' }],
    ['a port that goes without saying', { Host: 'voxgate.example:443', Origin: 'https://voxgate.example' }],
    ['a host in capitals', { Host: 'VOXGATE.example', Origin: 'https://voxgate.example' }],
    ['JSON with a character set', { ...SAME, 'Content-Type': 'Application/JSON; charset=utf-8' }],
  ])('passes from %s', async (_, headers) => {
    expect((await sent({ ...JSON_TYPE, ...CONSOLE, ...cookie(), ...headers })).status).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ['says nothing of where it is from', {}],
    ['is from another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['is from another host of the site', { 'Sec-Fetch-Site': 'same-site' }],
    ['was typed into the address line', { 'Sec-Fetch-Site': 'none' }],
    [
      'is from another site, with an origin that looks right',
      { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://voxgate.example' },
    ],
    ['says same-origin twice', { 'Sec-Fetch-Site': 'same-origin, same-origin' }],
    ['says same-origin in capitals', { 'Sec-Fetch-Site': 'Same-Origin' }],
    ['says nothing', { 'Sec-Fetch-Site': '' }],
    ['has another origin', { Origin: 'https://evil.example' }],
    ['has an origin that begins like ours', { Origin: 'https://voxgate.example.evil.example' }],
    ['has an origin that ends like ours', { Origin: 'https://evil-voxgate.example' }],
    ['has an origin with another port', { Origin: 'https://voxgate.example:8443' }],
    ['has an origin with a path', { Origin: 'https://voxgate.example/' }],
    ['has an origin with a user', { Origin: 'https://voxgate.example@evil.example' }],
    ['has no origin to speak of', { Origin: 'null' }],
    ['has an origin of another kind', { Origin: 'file://voxgate.example' }],
    ['has an origin that is none', { Origin: 'voxgate.example' }],
    ['names an empty host', { Origin: 'https://', Host: '' }],
  ])('fails when it %s', async (_, headers) => {
    const { status, code } = await sent({ ...JSON_TYPE, ...CONSOLE, ...cookie(), ...headers });
    expect([status, code]).toEqual([403, 'cross_site_request']);
  });

  test.each<[string, Record<string, string>, number, string]>([
    ['a form', FORM_TYPE, 415, 'unsupported_media_type'],
    ['a form with files', { 'Content-Type': 'multipart/form-data; boundary=x' }, 415, 'unsupported_media_type'],
    ['plain text', { 'Content-Type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['no type', {}, 415, 'unsupported_media_type'],
    ['compressed JSON', { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['a type that begins like JSON', { 'Content-Type': 'application/jsonp' }, 415, 'unsupported_media_type'],
    ['two types', { 'Content-Type': 'text/plain, application/json' }, 415, 'unsupported_media_type'],
    ['another page’s script', { ...JSON_TYPE, 'X-Requested-With': 'XMLHttpRequest' }, 403, 'cross_site_request'],
    ['no script', { ...JSON_TYPE, 'X-Requested-With': '' }, 403, 'cross_site_request'],
  ])('fails as %s', async (_, headers, status, code) => {
    const answer = await sent({ ...SAME, ...CONSOLE, ...cookie(), ...headers });
    expect([answer.status, answer.code]).toEqual([status, code]);
  });

  test.each(['sign-up', 'login', 'password-reset-request', 'password-reset'])(
    'fails from another site without a cookie as well: %s',
    async (path) => {
      const body = JSON.stringify({ email: 'login-csrf@example.com', password: PASSWORD });
      const answer = await rig
        .browser()
        .ask('POST', `/console/api/${path}`, body, { ...JSON_TYPE, ...CONSOLE, 'Sec-Fetch-Site': 'cross-site' });
      expect([answer.status, answer.code]).toEqual([403, 'cross_site_request']);
    },
  );

  test.each(['/verify', '/reset-password'])('fails from another site as a form: %s', async (path) => {
    for (const headers of [{}, { 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }]) {
      const answer = await rig.browser().ask('POST', `${path}?token=x`, 'password=x', { ...FORM_TYPE, ...headers });
      expect([answer.status, answer.code]).toEqual([403, 'cross_site_request']);
    }
  });
});

describe('a cookie', () => {
  test('opens nothing on /v1', async () => {
    expect((await ada.get('/v1/models')).status).toBe(401);
  });

  test('stays strict and hidden from scripts, and without TLS on this machine only', async () => {
    const open = await openConsoleRig({ reach: { isPrivate: false, publicUrl: 'https://stt.example.com' } });
    await openAccount(open, 'ada@example.com');
    const attributesOf = async (headers: Record<string, string>, on = open) => {
      const answer = await on.browser(headers).logIn('ada@example.com');
      return answer.headers['set-cookie']?.[0]?.replace(/=[\w-]{43};/, '=…;');
    };
    const strict = 'Path=/; Max-Age=43200; HttpOnly; SameSite=Strict';
    expect(await attributesOf({}, rig)).toBe(`sid=…; ${strict}`);
    expect(await attributesOf({ Host: 'localhost:8080' }, rig)).toBe(`sid=…; ${strict}`);
    expect(await attributesOf({ Host: 'localhost:8080' })).toBe(`__Host-sid=…; ${strict}; Secure`);
    expect(await attributesOf({ Host: 'voxgate.example' })).toBe(`__Host-sid=…; ${strict}; Secure`);
    expect(await attributesOf({ 'X-Forwarded-For': '192.0.2.1' })).toBe(`__Host-sid=…; ${strict}; Secure`);
    expect(await attributesOf({ Host: 'localhost.evil.example' })).toBe(`__Host-sid=…; ${strict}; Secure`);
  });

  test.each([
    ['none', ''],
    ['another name', 'session=x'],
    ['the strict name on this machine', '__Host-sid=$'],
    ['two of them', 'sid=$; sid=x'],
    ['half of it', 'sid=$2'],
    ['something behind it', 'sid=$x'],
    ['a name that ends so', 'my-sid=$'],
  ])('opens nothing with %s', async (_, form) => {
    const value = ada.cookie!.slice('sid='.length);
    const text = form.replace('$2', value.slice(0, 20)).replace('$', value);
    const answer = await rig.browser().get('/console/api/me', { Cookie: text });
    expect([answer.status, answer.code]).toEqual([401, 'login_required']);
  });

  test('among others is found', async () => {
    const answer = await rig.browser().get('/console/api/me', { Cookie: `a=b; ${ada.cookie}; c="d"` });
    expect(answer.json()).toMatchObject({ email: 'ada@example.com', email_verified: true });
  });
});

describe('a body', () => {
  test.each<[string, object, string]>([
    ['sign-up', { email: 'x@example.com', password: PASSWORD, role: 'admin' }, 'role'],
    ['sign-up', { email: 'x@example.com', password: PASSWORD, balance: '100.00' }, 'balance'],
    ['sign-up', { email: 'x@example.com', password: PASSWORD, organisation_id: 'org_x' }, 'organisation_id'],
    ['sign-up', JSON.parse('{"email":"x@example.com","password":"x","__proto__":{"state":"verified"}}'), '__proto__'],
    ['sign-up', { password: PASSWORD }, 'email'],
    ['sign-up', { email: 'x@example.com' }, 'password'],
    ['sign-up', { email: ['x@example.com'], password: PASSWORD }, 'email'],
    ['sign-up', { email: 'x@example.com', password: 12_345_678 }, 'password'],
    ['sign-up', { email: 'no address', password: PASSWORD }, 'email'],
    ['sign-up', { email: 'x@example.com', password: 'short' }, 'password'],
    ['sign-up', { email: 'x@example.com', password: PASSWORD, organisation: '' }, 'organisation'],
    ['sign-up', { email: 'x@example.com', password: PASSWORD, organisation: 'a\nb' }, 'organisation'],
    ['login', { email: 'x@example.com', password: PASSWORD, remember: true }, 'remember'],
    ['confirm', { password: PASSWORD, person_id: 'per_x' }, 'person_id'],
    ['logout', { all: true }, 'all'],
    ['keys', { name: 'x', organisation_id: 'org_x' }, 'organisation_id'],
    ['keys', { daily_spend_usd_max: '1.0000001' }, 'daily_spend_usd_max'],
    ['keys', { daily_spend_usd_max: 1 }, 'daily_spend_usd_max'],
    ['keys', { scopes: ['admin'] }, 'scopes.0'],
    ['keys', { sessions_max: '5' }, 'sessions_max'],
  ])('fails for %s with %j and names %s', async (path, body, param) => {
    const before = rig.database.prepare('SELECT count(*) FROM people').pluck().get();
    const answer = await ada.call('POST', path, body);
    expect([answer.status, answer.code, answer.param]).toEqual([400, 'invalid_request', param]);
    expect(rig.database.prepare('SELECT count(*) FROM people').pluck().get()).toBe(before);
  });

  test.each(['[]', 'null', '"text"', '{', '1'])('fails if it is %s', async (body) => {
    const answer = await ada.ask('POST', '/console/api/login', body, { ...JSON_TYPE, ...CONSOLE, ...SAME });
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
  });

  test('fails unread with a password of a megabyte', async () => {
    const answer = await rig.browser().logIn('ada@example.com', 'x'.repeat(1_000_000));
    expect([answer.status, answer.code]).toEqual([413, 'file_too_large']);
  });
});

describe('an answer', () => {
  test('forbids caching and frames', async () => {
    const answers = [
      await ada.get('/console/api/me'),
      await ada.get('/console/api/nowhere'),
      await ada.call('POST', 'confirm', { password: 'wrong' }),
      await ada.get('/verify?token=x'),
      await ada.get('/reset-password?token=x'),
      await ada.get('/console/outbox'),
    ];
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
    for (const { headers } of answers.slice(3)) {
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['cross-origin-opener-policy']).toBe('same-origin');
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
      );
      expect(headers['strict-transport-security']).toBeUndefined();
    }
  });

  test('sends HSTS on a server with TLS, and its cookie is strict on localhost as well', async () => {
    const secure = await openConsoleRig({ settings: { tls: true } });
    const browser = await openAccount(secure, 'ada@example.com');
    expect(browser.cookie).toMatch(/^__Host-sid=/);
    const { headers } = await browser.get('/verify?token=x');
    expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
  });

  test('does not repeat what stands in a link', async () => {
    const { text } = await ada.get('/verify?token=%3Cscript%3Ealert(1)%3C/script%3E');
    expect(text).not.toContain('script');
  });
});

describe('the development outbox', () => {
  test('opens for browsers on this machine that use its local name', async () => {
    expect((await rig.browser().get('/console/outbox')).text).toContain('ada@example.com');
    for (const headers of [
      { Host: 'voxgate.example' },
      { Host: '127.0.0.1.evil.example' },
      { 'X-Forwarded-For': '192.0.2.1' },
      { Forwarded: 'for=192.0.2.1' },
      { 'X-Forwarded-Host': 'voxgate.example' },
      { 'X-Forwarded-Proto': 'https' },
      { 'X-Forwarded-Anything': 'x' },
    ]) {
      const answer = await rig.browser().get('/console/outbox', headers as Record<string, string>);
      expect([answer.status, answer.text.includes('ada@')]).toEqual([404, false]);
    }
  });

  test('stays closed where the gateway can be reached from elsewhere, for any request', async () => {
    const open = await openConsoleRig({ reach: { isPrivate: false } });
    await openAccount(open, 'ada@example.com');
    const answer = await open.browser().get('/console/outbox', { Host: 'localhost:8080' });
    expect([answer.status, answer.text.includes('ada@')]).toEqual([404, false]);
  });
});

test('causes no error in the gateway', () => {
  expect(rig.faults).toEqual([]);
});
