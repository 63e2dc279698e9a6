// The console on the store's own thread: many requests at once, and no trace of a password, a link's token, a cookie or a key
// where nobody should find one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Passwords } from '../../../src/accounts/people/passwords.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { type ConsoleRig, openAccount, openConsoleRig } from '../../accounts/people/console-rig.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const directory = temporaryDirectory();
let store: SqliteStore;
let rig: ConsoleRig;
beforeAll(async () => {
  store = await openSqliteStore({ directory });
  rig = await openConsoleRig({ store });
});
afterAll(() => store.close());

const welcomes = async () => (await store.exportLedger(0, 1000)).filter(({ kind }) => kind === 'welcome');

describe('simultaneous requests', () => {
  test('fifty presses of one button open one account with one credit', async () => {
    const email = 'press@example.com';
    await rig.browser().signUp(email);
    const token = await rig.mailedToken(email, '/verify');
    const before = (await welcomes()).length;
    const presses = await Promise.all(Array.from({ length: 50 }, () => rig.browser().verify(token)));
    const statuses = presses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    // Those past the queue are told to come back.
    expect(new Set(statuses)).toEqual(new Set([200, 400, ...statuses.filter((status) => status === 503)]));
    expect((await welcomes()).length).toBe(before + 1);
  });

  test('thirty sign-ups of one mailbox in as many spellings make one account with one credit', async () => {
    const spellings = Array.from({ length: 30 }, (_, number) => `m.any+${number}@gmail.com`);
    const before = (await welcomes()).length;
    const answers = await Promise.all(spellings.map((email) => rig.browser().signUp(email)));
    expect(answers.map(({ status }) => status)).toEqual(spellings.map(() => 202));
    const tokens = await Promise.all(
      rig.mailbox.mails
        .filter(({ to }) => to.startsWith('m.any+'))
        .map(({ text }) => /token=([\w-]{43})/.exec(text)?.[1] ?? ''),
    );
    await Promise.all(tokens.map((token) => rig.browser().verify(token)));
    expect((await welcomes()).length).toBe(before + 1);
  });

  test('judges at most eight of two hundred guesses of one password', async () => {
    await openAccount(rig, 'guess@example.com');
    const statuses = [];
    for (let round = 0; round < 8; round++) {
      const guesses = Array.from({ length: 25 }, (_, guess) =>
        rig.browser().logIn('guess@example.com', `a wrong password ${round} ${guess}`),
      );
      statuses.push(...(await Promise.all(guesses)).map(({ status }) => status));
    }
    // Besides those that a second of waiting lets through.
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(8);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });

  test('turns away logins beyond the waiting room, and serves the others', async () => {
    const held: (() => void)[] = [];
    class Slow extends Passwords {
      override async verify() {
        await new Promise<void>((resolve) => held.push(resolve));
        return { matches: false, isOld: false };
      }
    }
    const slow = await openConsoleRig({ passwords: new Slow('scrypt', { n: 16, r: 1, p: 1 }) });
    const all = Array.from({ length: 40 }, (_, number) => slow.browser().logIn(`slow${number}@example.com`));
    const refused = (await firstOf(all, 6)).map(({ status, code, headers }) => [status, code, headers['retry-after']]);
    expect(refused).toEqual(refused.map(() => [503, 'overloaded', '5']));
    for (let served = 0; served < 34; served++) {
      while (held[served] === undefined) await new Promise((resolve) => setImmediate(resolve));
      expect(held.length - served).toBeLessThanOrEqual(2);
      held[served]!();
    }
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(34);
  });
});

test('keeps passwords, links, cookies and keys out of the database, shown only once', async () => {
  const email = 'canary@example.com';
  const passwords = ['canary-password-one-8f2a', 'canary-password-two-7c1d', 'canary-password-three-55e0'] as const;
  const browser = rig.browser();
  rig.answers.length = 0;
  await browser.call('POST', 'sign-up', { email, password: passwords[0] });
  const links = [await rig.mailedToken(email, '/verify')];
  await browser.get(`/verify?token=${links[0]}`);
  await browser.verify(links[0]!, passwords[0]);
  await browser.logIn(email, passwords[0]);
  const cookies = [browser.cookie?.split('=')[1] ?? ''];
  await browser.call('POST', 'confirm', { password: 'canary-password-wrong-1b1b' });
  await browser.logIn(email, 'canary-password-wrong-1b1b');
  await browser.call('POST', 'password', { current_password: passwords[0], new_password: passwords[1] });
  cookies.push(browser.cookie?.split('=')[1] ?? '');
  const { secret } = (await browser.call('POST', 'keys')).json() as unknown as { secret: string };
  await browser.call('POST', 'email', { email: 'next@example.com' });
  links.push(await rig.mailedToken('next@example.com', '/verify'));
  await browser.call('POST', 'password-reset-request', { email });
  links.push(await rig.mailedToken(email, '/reset-password'));
  await browser.get(`/reset-password?token=${links[2]}`);
  await browser.submit(`/reset-password?token=${links[2]}`, { password: 'password' });
  await browser.submit(`/reset-password?token=${links[2]}`, { password: passwords[2] });
  for (const path of ['me', 'keys', 'audit', 'console-sessions']) await browser.get(`/console/api/${path}`);
  expect((await rig.browser().logIn(email, passwords[2])).status).toBe(204);

  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name)).toString('latin1'));
  expect(files.join('')).toContain(email);
  const canaries = [...passwords, 'canary-password-wrong-1b1b', ...links, ...cookies, secret];
  expect(canaries.every((canary) => canary.length > 20)).toBe(true);
  for (const canary of canaries) expect(files.some((bytes) => bytes.includes(canary))).toBe(false);

  const bodies = rig.answers.map((answer) => answer.replace(/"set-cookie":\[[^\]]*\]/, ''));
  const seen = (canary: string) => bodies.filter((body) => body.includes(canary)).length;
  expect(canaries.map(seen)).toEqual(canaries.map((canary) => (canary === secret ? 1 : 0)));
  expect(rig.faults).toEqual([]);
});

/** Those that settle first. */
function firstOf<Value>(all: readonly Promise<Value>[], count: number): Promise<Value[]> {
  const settled: Value[] = [];
  return new Promise((resolve, reject) => {
    for (const each of all) {
      each.then((value) => settled.push(value) === count && resolve([...settled]), reject);
    }
  });
}
