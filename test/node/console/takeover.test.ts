// Two people who sign up with one address: the mails look the same, and still nobody gets into the other's account.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Passwords } from '../../../src/accounts/people/passwords.ts';
import { type ConsoleRig, openAccount, openConsoleRig, PASSWORD } from '../../accounts/people/console-rig.ts';

const THIEF = 'a password that a stranger has chosen';

let rig: ConsoleRig;
beforeAll(async () => {
  rig = await openConsoleRig();
});
let people = 0;
let email: string;
beforeEach(() => {
  email = `person${++people}@example.com`;
});

describe('two sign-ups with one address', () => {
  test('get mails that look the same, and the newest opens nothing for the stranger', async () => {
    await rig.browser().signUp(email);
    await rig.browser().signUp(email, THIEF);
    const [own, strangers] = (await rig.mailedTokens(email, 2)) as [string, string];
    const owner = rig.browser();
    const refused = await owner.verify(strangers);
    expect([refused.status, refused.text.includes('somebody else') || refused.text.includes('Somebody else')]).toEqual([
      401,
      true,
    ]);
    expect(refused.text).toContain('use the link of the other mail');
    expect((await owner.verify(own)).status).toBe(200);
    expect((await owner.verify(strangers, THIEF)).status).toBe(400);
    expect((await rig.browser().logIn(email, THIEF)).status).toBe(401);
    expect((await owner.logIn(email)).status).toBe(204);
    expect((await owner.get('/console/api/balance')).json()).toMatchObject({ balance_usd: '2.00' });
  });

  test('leave the account with the owner also when the stranger was first and is logged in', async () => {
    const thief = rig.browser();
    await thief.signUp(email, THIEF);
    await thief.logIn(email, THIEF);
    await rig.browser().signUp(email);
    const [strangers, own] = (await rig.mailedTokens(email, 2)) as [string, string];
    await thief.call('POST', 'verification');
    const [, , again] = await rig.mailedTokens(email, 3);
    expect((await rig.browser().verify(strangers)).status).toBe(401);
    expect((await rig.browser().verify(again!)).status).toBe(401);
    expect((await rig.browser().verify(own)).status).toBe(200);
    expect((await thief.get('/console/api/me')).status).toBe(401);
    expect((await rig.browser().logIn(email, THIEF)).status).toBe(401);
    expect((await rig.browser().logIn(email)).status).toBe(204);
  });

  test('allow five wrong attempts with one link, which then expires', async () => {
    await rig.browser().signUp(email);
    const [token] = await rig.mailedTokens(email, 1);
    const statuses = [];
    for (let attempt = 0; attempt < 5; attempt++) statuses.push((await rig.browser().verify(token!, THIEF)).status);
    expect(statuses).toEqual(Array(5).fill(401));
    expect((await rig.browser().verify(token!)).status).toBe(400);
    expect((await rig.browser().logIn(email)).status).toBe(204);
  });
});

describe('the page of a link', () => {
  test('asks for the password, and neither a look at it nor a form without one uses anything up', async () => {
    await rig.browser().signUp(email);
    const [token] = await rig.mailedTokens(email, 1);
    for (let look = 0; look < 10; look++) {
      expect((await rig.browser().get(`/verify?token=${token}`)).text).toContain('type="password" name="password"');
      const empty = await rig.browser().submit(`/verify?token=${token}`);
      expect([empty.status, empty.text.includes('<form')]).toEqual([400, true]);
      expect((await rig.browser().verify(token!, 'x'.repeat(600))).status).toBe(401);
    }
    expect((await rig.browser().verify(token!)).status).toBe(200);
  });

  test('asks for the password of the account that wants the new address', async () => {
    const thief = await openAccount(rig, email);
    const victim = `victim-${email}`;
    await thief.call('POST', 'email', { email: victim });
    const token = await rig.mailedToken(victim, '/verify');
    expect((await rig.browser().verify(token, 'the password of whoever has the mailbox')).status).toBe(401);
    expect((await thief.get('/console/api/me')).json()).toMatchObject({ email });
    expect((await rig.browser().verify(token, PASSWORD)).text).toContain('this address now');
  });

  test('hashes nothing for an invalid link, and limits one client’s attempts', async () => {
    class Counting extends Passwords {
      verified = 0;
      override verify(password: string, stored: string) {
        this.verified += 1;
        return super.verify(password, stored);
      }
    }
    const passwords = new Counting('scrypt', { n: 16, r: 1, p: 1 });
    const strict = await openConsoleRig({ passwords, settings: { attemptsPerMinuteMax: 20 } });
    const statuses = [];
    for (let attempt = 0; attempt < 21; attempt++) {
      statuses.push((await strict.browser().verify('x'.repeat(43))).status);
    }
    expect(statuses).toEqual([...Array(20).fill(400), 429]);
    expect(passwords.verified).toBe(0);
  });
});

test('causes no error in the gateway', () => {
  expect(rig.faults).toEqual([]);
});
