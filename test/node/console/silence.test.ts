// Whether an address has an account is nobody's business: the same answers, the same waits, the same work.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Passwords } from '../../../src/accounts/people/passwords.ts';
import {
  type Answer,
  type Browser,
  type ConsoleRig,
  openAccount,
  openConsoleRig,
  PASSWORD,
} from '../../accounts/people/console-rig.ts';

let rig: ConsoleRig;
beforeAll(async () => {
  rig = await openConsoleRig();
});
let people = 0;
let email: string;
beforeEach(() => {
  email = `person${++people}@example.com`;
});

/** All that tells two answers apart. */
async function looksOf(answer: Promise<Answer>) {
  const { status, headers, text } = await answer;
  const { date: _date, 'x-request-id': _id, ...rest } = headers;
  return { status, headers: rest, text: text.replace(/req_\d+/, 'req') };
}

describe('accounts of other people’s addresses', () => {
  test('stay secret in sign-up, reset and login: the answers are the same', async () => {
    await openAccount(rig, email);
    const nobody = `nobody-${email}`;
    const browser = rig.browser();
    const reset = (address: string) => browser.call('POST', 'password-reset-request', { email: address });
    expect(await looksOf(reset(email))).toEqual(await looksOf(reset(nobody)));
    expect(await looksOf(browser.logIn(email, 'wrong password'))).toEqual(
      await looksOf(browser.logIn(nobody, 'wrong password')),
    );
    expect(await looksOf(browser.signUp(email))).toEqual(await looksOf(browser.signUp(nobody)));
    const named = (address: string, organisation: string) =>
      looksOf(browser.call('POST', 'sign-up', { email: address, password: PASSWORD, organisation }));
    expect(await named(email, 'a\nb')).toEqual(await named(`other-${nobody}`, 'a\nb'));
  });

  test('stay secret in a login’s duration: an unknown address costs a hash as well', async () => {
    class Counting extends Passwords {
      verified = 0;
      override verify(password: string, stored: string) {
        this.verified += 1;
        return super.verify(password, stored);
      }
    }
    const passwords = new Counting('scrypt', { n: 16, r: 1, p: 1 });
    const own = await openConsoleRig({ passwords });
    await own.browser().logIn('nobody@example.com');
    expect(passwords.verified).toBe(1);
  });

  test('stay secret in waits: they are the same, and the sixth attempt is not judged', async () => {
    await openAccount(rig, email);
    const sixth = async (address: string) => {
      for (let attempt = 0; attempt < 5; attempt++) await rig.browser().logIn(address, 'wrong password');
      return looksOf(rig.browser().logIn(address, PASSWORD));
    };
    const known = await sixth(email);
    expect(known).toEqual(await sixth(`nobody-${email}`));
    expect([known.status, known.headers['retry-after']]).toEqual([429, '1']);
    rig.pass(1000);
    expect((await rig.browser().logIn(email)).status).toBe(204);
  });
});

describe('accounts of other people’s addresses, by where a limit begins', () => {
  const DAY_MS = 86_400_000;
  type Ask = (browser: Browser, address: string) => Promise<Answer>;
  const ENDPOINTS: [string, Ask][] = [
    ['sign-up', (browser, address) => browser.signUp(address)],
    [
      'password-reset-request',
      (browser, address) => browser.call('POST', 'password-reset-request', { email: address }),
    ],
    ['email', (browser, address) => browser.call('POST', 'email', { email: address })],
    ['login', (browser, address) => browser.logIn(address, 'wrong password')],
  ];

  test.each(ENDPOINTS)('POST %s', async (_, ask) => {
    const strict = await openConsoleRig({ settings: { attemptsPerMinuteMax: 20, signUpsPerAddressDayMax: 10 } });
    await openAccount(strict, 'taken@example.com');
    const seen = [];
    for (const address of ['free@example.com', 'taken@example.com']) {
      strict.pass(DAY_MS);
      const asker = await openAccount(strict, `asker-of-${address}`);
      strict.pass(60_000);
      const answers = [];
      for (let attempt = 0; attempt < 25; attempt++) answers.push(await looksOf(ask(asker, address)));
      seen.push(answers);
    }
    const [free, taken] = seen;
    expect(free!.findIndex(({ status }) => status === 429)).toBeGreaterThan(0);
    expect(taken).toEqual(free);
  });
});
