// What stands in the way at the console and what does not: limits of an organisation, its suspension, logins in the open, and
// strangers who fail to log in.
import { describe, expect, test } from 'vitest';
import {
  type Browser,
  type ConsoleRig,
  openAccount,
  openConsoleRig,
  PASSWORD,
} from '../../accounts/people/console-rig.ts';
import { OPERATOR } from '../../fakes/store/ledger.ts';

const organisationOf = async (browser: Browser) =>
  ((await browser.get('/console/api/me')).json() as unknown as { organisation: { id: string } }).organisation.id;

describe('changes of one organisation', () => {
  test('allow sixty a minute by default over all sessions, without reads and logouts', async () => {
    const rig = await openConsoleRig({ settings: { changesPerMinuteMax: undefined as unknown as number } });
    const one = await openAccount(rig, 'ada@example.com');
    const two = rig.browser();
    await two.logIn('ada@example.com');
    const other = await openAccount(rig, 'bob@example.com');
    const statuses = [];
    for (let change = 0; change < 62; change++) {
      const browser = change % 2 === 0 ? one : two;
      statuses.push((await browser.call('DELETE', 'keys/key_x')).status);
      expect((await browser.get('/console/api/me')).status).toBe(200);
    }
    expect(statuses).toEqual([...Array(60).fill(404), 429, 429]);
    const refused = await one.call('DELETE', 'keys/key_x');
    expect([refused.code, refused.headers['retry-after']]).toEqual(['rate_limit_exceeded', '1']);
    expect((await other.call('DELETE', 'keys/key_x')).status).toBe(404);
    expect((await two.call('POST', 'logout')).status).toBe(204);
    rig.pass(1000);
    expect((await one.call('DELETE', 'keys/key_x')).status).toBe(404);
  });
});

describe('a hundred keys in use', () => {
  /** With so many keys, of which the first is returned. */
  async function withKeys(count: number) {
    const rig = await openConsoleRig();
    const browser = await openAccount(rig, 'ada@example.com');
    const organisationId = await organisationOf(browser);
    const keys = Array.from({ length: count }, () => rig.ledger.createKey(organisationId, {}, OPERATOR).key);
    return { rig, browser, organisationId, first: keys[0]! };
  }

  test('count those in their grace', async () => {
    const { rig, browser, first } = await withKeys(99);
    expect((await browser.call('POST', `keys/${first.id}/roll`, { grace_seconds: 60 })).status).toBe(201);
    const refused = await browser.call('POST', 'keys');
    expect([refused.status, refused.code, refused.text.includes('Revoke one')]).toEqual([400, 'invalid_request', true]);
    rig.pass(60_000);
    expect((await browser.call('POST', 'keys')).status).toBe(201);
  });

  test('block a roll with a grace period, but not one without', async () => {
    const { rig, browser, first } = await withKeys(100);
    const before = rig.ledger.listKeys();
    expect((await browser.call('POST', `keys/${first.id}/roll`)).status).toBe(400);
    expect(rig.ledger.listKeys()).toEqual(before);
    expect((await browser.call('POST', `keys/${first.id}/roll`, { grace_seconds: 0 })).status).toBe(201);
  });

  test('block more time for an expired key', async () => {
    const { rig, browser, organisationId } = await withKeys(99);
    const expiresAt = new Date(rig.clock.nowMs + 1000).toISOString();
    const { key } = rig.ledger.createKey(organisationId, { expiresAt }, OPERATOR);
    rig.pass(1000);
    expect((await browser.call('POST', 'keys')).status).toBe(201);
    expect((await browser.call('PATCH', `keys/${key.id}`, { expires_at: null })).status).toBe(400);
    expect((await browser.call('PATCH', `keys/${key.id}`, { name: 'over' })).status).toBe(200);
  });

  test('stay a hundred when many are minted at once', async () => {
    const { rig, browser } = await withKeys(95);
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => browser.call('POST', 'keys')))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 201)).toHaveLength(5);
    expect(rig.ledger.listKeys()).toHaveLength(100);
  });
});

test('lets a suspended organisation only read and log out', async () => {
  const rig = await openConsoleRig();
  const browser = await openAccount(rig, 'ada@example.com');
  rig.ledger.setSuspended(await organisationOf(browser), true, OPERATOR);
  for (const path of ['me', 'keys', 'balance', 'audit']) {
    expect((await browser.get(`/console/api/${path}`)).status).toBe(200);
  }
  for (const [method, path, body] of [
    ['POST', 'keys', {}],
    ['PATCH', 'keys/key_x', {}],
    ['DELETE', 'keys/key_x', {}],
    ['POST', 'keys/key_x/roll', {}],
    ['POST', 'email', { email: 'x@example.com' }],
    ['POST', 'password', { current_password: PASSWORD, new_password: `${PASSWORD} 2` }],
    ['POST', 'verification', {}],
    ['DELETE', 'console-sessions/con_x', {}],
  ] as const) {
    const answer = await browser.call(method, path, body);
    expect([path, answer.status, answer.code]).toEqual([path, 403, 'account_suspended']);
  }
  // Without it, nobody could look at the balance any more.
  expect((await browser.call('POST', 'confirm', { password: PASSWORD })).status).toBe(204);
  expect((await browser.call('POST', 'logout')).status).toBe(204);
});

describe('a login over plain http', () => {
  const from = { Host: 'voxgate.example' };
  const codeOf = async (rig: ConsoleRig, headers: Record<string, string>) => {
    const { status, text, code } = await rig.browser(headers).logIn('ada@example.com');
    return status === 204 ? 'taken' : `${code} ${/use https/.test(text)}`;
  };

  test.each<[string, { isPrivate?: boolean; publicUrl?: string }, boolean, Record<string, string>, string]>([
    ['from elsewhere', { isPrivate: false }, false, from, 'invalid_request true'],
    ['from elsewhere to a private gateway', { isPrivate: true }, false, from, 'invalid_request true'],
    ['behind a proxy that speaks https', {}, false, { ...from, 'X-Forwarded-Proto': 'https' }, 'taken'],
    ['behind one that does not', {}, false, { ...from, 'X-Forwarded-Proto': 'http, https' }, 'invalid_request true'],
    ['where the public URL is https', { publicUrl: 'https://stt.example.com' }, false, from, 'taken'],
    ['where the server terminates TLS', {}, true, from, 'taken'],
    ['to the browser’s own machine', { isPrivate: false }, false, { Host: 'localhost:8080' }, 'taken'],
    ['to a name that looks like it', {}, false, { Host: 'localhost.evil.example' }, 'invalid_request true'],
  ])('%s', async (_, reach, tls, headers, wanted) => {
    const rig = await openConsoleRig({ reach, settings: { tls } });
    const owner = rig.browser({ Host: 'localhost' });
    await owner.signUp('ada@example.com');
    expect(await codeOf(rig, headers)).toBe(wanted);
  });
});

describe('a logged-in person', () => {
  test('can confirm the password although a stranger fails to log in', async () => {
    const rig = await openConsoleRig();
    const browser = await openAccount(rig, 'ada@example.com');
    for (let guess = 0; guess < 8; guess++) await rig.browser().logIn('ada@example.com', 'wrong password');
    expect((await rig.browser().logIn('ada@example.com')).status).toBe(429);
    expect((await browser.call('POST', 'confirm', { password: PASSWORD })).status).toBe(204);
    const change = { current_password: PASSWORD, new_password: `${PASSWORD} 2` };
    expect((await browser.call('POST', 'password', change)).status).toBe(204);
  });

  test('gives it wrongly five times in a row before the session ends, also at once', async () => {
    const rig = await openConsoleRig();
    const browser = await openAccount(rig, 'ada@example.com');
    const wrong = () => browser.call('POST', 'confirm', { password: 'wrong password' });
    for (let attempt = 0; attempt < 4; attempt++) expect((await wrong()).code).toBe('invalid_login');
    expect((await browser.call('POST', 'confirm', { password: PASSWORD })).status).toBe(204);
    const answers = await Promise.all(Array.from({ length: 30 }, wrong));
    expect(answers.filter(({ code }) => code === 'invalid_login').length).toBeLessThanOrEqual(5);
    expect((await browser.get('/console/api/me')).code).toBe('login_required');
    const refusals = rig.ledger.listAudit(null, 100).filter(({ action }) => action === 'login.refused');
    expect(refusals.map(({ detail }) => detail.why)).toEqual(['confirmation']);
  });

  test('leaves no session behind after a login to another account', async () => {
    const rig = await openConsoleRig();
    const browser = await openAccount(rig, 'ada@example.com');
    await openAccount(rig, 'bob@example.com');
    const former = browser.cookie!;
    expect((await browser.logIn('bob@example.com')).status).toBe(204);
    expect((await browser.get('/console/api/me')).json()).toMatchObject({ email: 'bob@example.com' });
    expect((await rig.browser().get('/console/api/me', { Cookie: former })).status).toBe(401);
  });
});
