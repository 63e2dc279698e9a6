// People at the console, from sign-up to the last session: what opens what, what ends what, and what nobody learns.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Passwords } from '../../../src/accounts/people/passwords.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import {
  type Browser,
  type ConsoleRig,
  openAccount,
  openConsoleRig,
  PASSWORD,
} from '../../accounts/people/console-rig.ts';

const MINUTE_MS = 60_000;
const OTHER = 'another long enough password';

let rig: ConsoleRig;
beforeAll(async () => {
  rig = await openConsoleRig();
});
let people = 0;
let email: string;
beforeEach(() => {
  email = `person${++people}@example.com`;
});

const me = (browser: Browser) => browser.get('/console/api/me');
const actions = () => rig.ledger.listAudit(null, 50).map(({ action }) => action);

describe('a new account', () => {
  test('signs up, logs in, verifies by the link’s button, and gets its credit', async () => {
    const browser = rig.browser();
    const signedUp = await browser.signUp(email);
    expect([signedUp.status, signedUp.json(), browser.cookie]).toEqual([202, { status: 'mail_sent' }, undefined]);
    expect((await browser.logIn(email)).status).toBe(204);
    expect((await me(browser)).json()).toMatchObject({ email, email_verified: false, organisation: { name: email } });
    const before = browser.cookie;
    const token = await rig.mailedToken(email, '/verify');

    const opened = await browser.get(`/verify?token=${token}`, { 'Sec-Fetch-Site': 'cross-site' });
    expect([opened.status, opened.text.includes('<form method="post">')]).toEqual([200, true]);
    expect((await me(browser)).json()).toMatchObject({ email_verified: false });

    const pressed = await browser.verify(token);
    expect([pressed.status, pressed.text.includes('welcome credit')]).toEqual([200, true]);
    expect(browser.cookie).not.toBe(before);
    expect((await me(browser)).json()).toMatchObject({ email_verified: true });
    expect((await browser.get('/console/api/balance')).json()).toEqual({
      object: 'balance',
      currency: 'USD',
      balance_usd: '2.00',
      held_usd: '0.00',
      available_usd: '2.00',
      credit_limit_usd: '0.00',
    });
    expect((await rig.browser().get('/console/api/me', { Cookie: before ?? '' })).status).toBe(401);
    expect((await browser.verify(token)).status).toBe(400);
  });

  test('gets one credit for fifty presses of the button at once', async () => {
    const browser = rig.browser();
    await browser.signUp(email);
    const token = await rig.mailedToken(email, '/verify');
    const presses = await Promise.all(Array.from({ length: 50 }, () => rig.browser().verify(token)));
    expect(presses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(presses.filter(({ status }) => ![200, 400, 503].includes(status))).toEqual([]);
    await browser.logIn(email);
    expect((await browser.get('/console/api/balance')).json()).toMatchObject({ balance_usd: '2.00' });
  });

  test('matches another spelling of the same mailbox', async () => {
    await openAccount(rig, `p.e.r.son.${people}@gmail.com`);
    const browser = rig.browser();
    expect((await browser.signUp(`person${people}+again@googlemail.com`)).status).toBe(202);
    expect((await browser.logIn(`PERSON${people}@gmail.com`)).status).toBe(204);
    expect((await me(browser)).json()).toMatchObject({ email: `p.e.r.son.${people}@gmail.com` });
  });

  test('may mint nothing before it is verified', async () => {
    const browser = rig.browser();
    await browser.signUp(email);
    await browser.logIn(email);
    for (const answer of [await browser.call('POST', 'keys'), await browser.get('/console/api/keys')]) {
      expect([answer.status, answer.code]).toEqual([403, 'email_not_verified']);
    }
  });

  test('gets its link mailed three times an hour', async () => {
    const browser = rig.browser();
    await browser.signUp(email);
    await browser.logIn(email);
    const again = async () => (await browser.call('POST', 'verification')).status;
    expect([await again(), await again(), await again(), await again()]).toEqual([202, 202, 202, 429]);
  });

  test('comes from one network a few times a day only', async () => {
    const strict = await openConsoleRig({ settings: { signUpsPerAddressDayMax: 2 } });
    const answers = [];
    for (const name of ['a', 'b', 'a', 'c']) answers.push(await strict.browser().signUp(`${name}@example.com`));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 429, 429]);
    strict.pass(24 * 60 * MINUTE_MS);
    expect((await strict.browser().signUp('c@example.com')).status).toBe(202);
  });
});

describe('a login', () => {
  test('opens a new id each time, and the one before ends', async () => {
    const browser = await openAccount(rig, email);
    const before = browser.cookie!;
    await browser.logIn(email);
    expect(browser.cookie).not.toBe(before);
    expect((await rig.browser().get('/console/api/me', { Cookie: before })).status).toBe(401);
    expect((await me(browser)).status).toBe(200);
  });

  test('fails in the end when one client tries many addresses', async () => {
    const strict = await openConsoleRig({ settings: { attemptsPerMinuteMax: 20 } });
    const statuses = [];
    for (let attempt = 0; attempt < 22; attempt++) {
      statuses.push((await strict.browser().logIn(`a${attempt}@example.com`, 'wrong password')).status);
    }
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429]);
    strict.pass(3000);
    expect((await strict.browser().logIn('a@example.com', 'wrong password')).status).toBe(401);
  });

  test('hashes the password again where the stored hash is outdated', async () => {
    const browser = await openAccount(rig, email);
    const old = await new Passwords('scrypt', { n: 32, r: 1, p: 1 }).hash(PASSWORD);
    rig.database.prepare('UPDATE people SET password = ? WHERE email = ?').run(old, email);
    const stored = () => rig.database.prepare('SELECT password FROM people WHERE email = ?').pluck().get(email);
    await browser.logIn(email, 'wrong password');
    expect(stored()).toBe(old);
    expect((await browser.logIn(email)).status).toBe(204);
    expect(stored()).toMatch(/^\$scrypt\$n=16,r=1,p=1\$/);
    expect((await browser.logIn(email)).status).toBe(204);
  });

  test('refuses a suspended account, but only after the right password', async () => {
    const browser = await openAccount(rig, email);
    const { id } = (await me(browser)).json();
    rig.ledger.moveAccount(id as unknown as string, 'account.suspend', { type: 'operator', id: 'test' });
    expect((await me(browser)).status).toBe(401);
    expect((await browser.logIn(email, 'wrong password')).code).toBe('invalid_login');
    expect((await browser.logIn(email)).code).toBe('account_suspended');
  });

  test('leaves entries in the audit log, like other events', async () => {
    const browser = await openAccount(rig, email);
    await browser.logIn(email, 'wrong password');
    await browser.call('POST', 'password', { current_password: PASSWORD, new_password: OTHER });
    await browser.call('POST', 'logout');
    expect(actions().slice(0, 4)).toEqual(['logout', 'password.changed', 'login.refused', 'login']);
  });
});

describe('a session', () => {
  test('ends on the server with the logout', async () => {
    const browser = await openAccount(rig, email);
    const cookie = browser.cookie!;
    const answer = await browser.call('POST', 'logout');
    expect([answer.status, browser.cookie]).toEqual([204, undefined]);
    expect((await rig.browser().get('/console/api/me', { Cookie: cookie })).status).toBe(401);
  });

  test('appears in the list and ends from another session, but not from another account', async () => {
    const one = await openAccount(rig, email);
    const two = rig.browser({ 'User-Agent': 'second' });
    await two.logIn(email);
    const stranger = await openAccount(rig, `stranger-${email}`);
    const { data } = (await one.get('/console/api/console-sessions')).json();
    const listed = data as unknown as { id: string; current: boolean }[];
    expect(listed.map(({ current }) => current)).toEqual([false, true]);
    expect(listed[0]).toMatchObject({ address: '127.0.0.1', user_agent: 'second' });
    const path = `console-sessions/${listed[0]!.id}`;
    expect((await stranger.call('DELETE', path)).status).toBe(404);
    expect((await me(two)).status).toBe(200);
    expect((await one.call('DELETE', path)).status).toBe(204);
    expect((await me(two)).status).toBe(401);
  });

  test('can be looked at while the disk takes nothing more', async () => {
    const full = await openConsoleRig();
    const browser = await openAccount(full, email);
    const noteConsoleSession = async () => {
      throw new StoreError('failed', 'The disk is full.');
    };
    Object.assign(full.store, { noteConsoleSession });
    full.pass(29 * MINUTE_MS);
    expect((await me(browser)).status).toBe(200);
  });

  test('lives while it is used, and half an hour after that', async () => {
    const browser = await openAccount(rig, email);
    for (let used = 0; used < 5; used++) {
      rig.pass(29 * MINUTE_MS);
      expect((await me(browser)).status).toBe(200);
    }
    rig.pass(30 * MINUTE_MS);
    expect((await me(browser)).status).toBe(401);
  });
});

describe('a critical change', () => {
  test('needs the password again after ten minutes', async () => {
    const browser = await openAccount(rig, email);
    expect((await browser.call('POST', 'keys')).status).toBe(201);
    rig.pass(10 * MINUTE_MS);
    for (const [path, body] of [
      ['keys', {}],
      ['email', { email: `new-${email}` }],
    ] as const) {
      const answer = await browser.call('POST', path, body);
      expect([answer.status, answer.code]).toEqual([403, 'password_required']);
    }
    expect((await browser.call('POST', 'confirm', { password: 'wrong password' })).code).toBe('invalid_login');
    expect((await browser.call('POST', 'keys')).code).toBe('password_required');
    expect((await browser.call('POST', 'confirm', { password: PASSWORD })).status).toBe(204);
    expect((await browser.call('POST', 'keys')).status).toBe(201);
  });

  test('ends the session when the password is wrong five times, and is not in the way of a login', async () => {
    const browser = await openAccount(rig, email);
    const statuses = [];
    for (let attempt = 0; attempt < 7; attempt++) {
      statuses.push((await browser.call('POST', 'confirm', { password: 'wrong password' })).status);
    }
    expect(statuses).toEqual(Array(7).fill(401));
    expect((await me(browser)).code).toBe('login_required');
    expect((await browser.logIn(email)).status).toBe(204);
  });
});

describe('a password', () => {
  test('ends every other session when it changes, and this one gets a new id', async () => {
    const browser = await openAccount(rig, email);
    const other = rig.browser();
    await other.logIn(email);
    const before = browser.cookie;
    const change = (current_password: string, new_password: string) =>
      browser.call('POST', 'password', { current_password, new_password });
    expect((await change('wrong password', OTHER)).code).toBe('invalid_login');
    expect((await change(PASSWORD, 'password')).param).toBe('password');
    expect((await change(PASSWORD, OTHER)).status).toBe(204);
    expect(browser.cookie).not.toBe(before);
    expect([(await me(browser)).status, (await me(other)).status]).toEqual([200, 401]);
    expect((await other.logIn(email)).status).toBe(401);
    expect((await other.logIn(email, OTHER)).status).toBe(204);
  });

  test('can be reset by the mailed link once, which ends every session', async () => {
    const browser = await openAccount(rig, email);
    await rig.browser().call('POST', 'password-reset-request', { email });
    const token = await rig.mailedToken(email, '/reset-password');
    const submit = (password: string) => rig.browser().submit(`/reset-password?token=${token}`, { password });
    expect((await rig.browser().get(`/reset-password?token=${token}`)).text).toContain('type="password"');
    const short = await submit('short');
    expect([short.status, short.text.includes('<form')]).toEqual([400, true]);
    expect((await submit(OTHER)).status).toBe(200);
    expect((await me(browser)).status).toBe(401);
    expect((await submit(PASSWORD)).text).toContain('used already');
    expect((await browser.logIn(email, OTHER)).status).toBe(204);
  });

  test('can be reset through the API, only with that token', async () => {
    const browser = await openAccount(rig, email);
    await browser.call('POST', 'password-reset-request', { email });
    const token = await rig.mailedToken(email, '/reset-password');
    const reset = (wanted: string) => browser.call('POST', 'password-reset', { token: wanted, password: OTHER });
    expect((await reset('x'.repeat(43))).code).toBe('invalid_link');
    expect((await reset('x')).code).toBe('invalid_link');
    expect((await reset(token)).status).toBe(204);
    expect((await reset(token)).code).toBe('invalid_link');
  });
});

test('changes an address by the link mailed to the new one, and notifies the old one', async () => {
  const browser = await openAccount(rig, email);
  const next = `new-${email}`;
  expect((await browser.call('POST', 'email', { email: next })).status).toBe(202);
  const token = await rig.mailedToken(next, '/verify');
  expect((await me(browser)).json()).toMatchObject({ email });
  expect((await browser.verify(token)).text).toContain('this address now');
  expect((await me(browser)).json()).toMatchObject({ email: next });
  expect((await rig.browser().logIn(next)).status).toBe(204);
  expect((await rig.browser().logIn(email)).status).toBe(401);
  expect(rig.mailbox.mails.find(({ to }) => to === email)?.subject).toContain('was changed');
});

test('reports a failing store as unavailable, without details', async () => {
  const broken = await openConsoleRig();
  const browser = await openAccount(broken, email);
  const fail = async () => {
    throw new StoreError('failed', 'The disk has a secret.');
  };
  Object.assign(broken.store, { findConsoleSession: fail, isVerificationToken: fail });
  for (const answer of [await me(browser), await browser.verify('x'.repeat(43))]) {
    expect([answer.status, answer.headers['retry-after'], answer.text.includes('secret')]).toEqual([503, '2', false]);
  }
  expect(broken.faults).toEqual([]);
});

test('causes no error in the gateway', () => {
  expect(rig.faults).toEqual([]);
});
