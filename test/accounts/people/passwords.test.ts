// Passwords: what is taken, what is kept, and how many are hashed at a time.
import { beforeEach, describe, expect, test } from 'vitest';
import { ClientLimit, HashQueue } from '../../../src/accounts/people/attempt-limits.ts';
import { isCommonPassword } from '../../../src/accounts/people/common-passwords.ts';
import { checkPassword, Passwords } from '../../../src/accounts/people/passwords.ts';
import { ApiError } from '../../../src/api/errors.ts';

const scrypt = new Passwords('scrypt');
const best = new Passwords();
const GOOD = 'correct horse battery staple';

/** What a call is refused with. */
function apiErrorOf(call: () => unknown): ApiError | undefined {
  try {
    call();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  return undefined;
}

describe('a new password', () => {
  test.each([
    GOOD,
    '8letters',
    'correct horse '.repeat(18),
    '😀 horses!'.repeat(25),
    'Ünïcödé wörds',
    'voxgate horse staple',
    'example of a horse',
    'abcd horse',
    'defghosts',
  ])('%j is taken', (password) => {
    expect(apiErrorOf(() => checkPassword(password, 'ada@example.com'))).toBeUndefined();
  });

  test.each([
    ['', 'has 0 characters'],
    ['seven77', 'has 7 characters'],
    ['x'.repeat(257), 'has 257 characters'],
    ['y'.repeat(1_000_000), 'has 1000000 characters'],
    ['password', 'one of the first'],
    ['PASSWORD1', 'one of the first'],
    ['qwertyuiop', 'one of the first'],
    ['1q2w3e4r', 'one of the first'],
    ['12345678', 'one of the first'],
    ['aaaaaaaa', 'one of the first'],
    ['        ', 'one of the first'],
    ['\u3000'.repeat(8), 'one of the first'],
    ['😀'.repeat(256), 'one of the first'],
    ['abababab', 'one of the first'],
    ['abcdabcd', 'one of the first'],
    ['abcdefgh', 'one of the first'],
    ['zyxwvuts', 'one of the first'],
    ['9876543210', 'one of the first'],
    ['1234567890', 'one of the first'],
    ['aaaabbbb', 'one of the first'],
    ['asdf1234', 'one of the first'],
    ['poiuytrewq', 'one of the first'],
    ['azertyuiop', 'one of the first'],
    ['qwertzuiop', 'one of the first'],
    ['qwerty12345', 'one of the first'],
    ['voxgatevoxgate', 'one of the first'],
    ['Voxgate1', 'one of the first'],
    ['voxgate-2026', 'one of the first'],
    ['ｖｏｘｇａｔｅ！！', 'one of the first'],
    ['example.com', 'one of the first'],
    ['example123', 'one of the first'],
    ['lovelace', 'one of the first'],
    ['ada.lovelace1', 'one of the first'],
    ['a\u0308'.repeat(4), 'has 4 characters'],
    ['ada.lovelace', 'one of the first'],
    ['Ada.Lovelace@example.com', 'one of the first'],
  ])('%j is refused and not repeated', (password, why) => {
    const refusal = apiErrorOf(() => checkPassword(password, 'ada.lovelace@example.com'));
    expect(refusal?.code).toBe('invalid_request');
    expect(refusal?.extras.param).toBe('password');
    expect(refusal?.message).toContain(why);
    // The name of the member is not the password.
    expect(refusal?.message.replace('`password`', '').split(' ')).not.toContain(password === '' ? 'x' : password);
  });

  test('must differ from three thousand common ones, and uncommon ones pass', () => {
    const tried = Array.from({ length: 20_000 }, (_, number) => `uncommon words ${number}`);
    expect(tried.filter(isCommonPassword)).toEqual([]);
    expect(['iloveyou', 'baseball', 'trustno1', 'sunshine', 'greyhoun'].filter(isCommonPassword)).toHaveLength(5);
  });
});

describe('a kept password', () => {
  test('carries its parameters and a separate salt, and matches that password alone', async () => {
    const [one, two] = await Promise.all([scrypt.hash(GOOD), scrypt.hash(GOOD)]);
    expect(one).toMatch(/^\$scrypt\$n=32768,r=8,p=3\$[\w-]{22}\$[\w-]{43}$/);
    expect(one).not.toBe(two);
    expect(await best.verify(GOOD, one)).toMatchObject({ matches: true });
    expect(await best.verify(`${GOOD} `, one)).toMatchObject({ matches: false });
    expect(await best.verify('', one)).toMatchObject({ matches: false });
  });

  test('counts as current when it was just made', async () => {
    expect(await best.verify(GOOD, await best.hash(GOOD))).toEqual({ matches: true, isOld: false });
  });

  test('still matches with other parameters, and counts as old', async () => {
    // Made with node:crypto alone: scryptSync(password, 16 bytes of 7, 32, { N: 1024, r: 8, p: 1 }).
    const salt = Buffer.alloc(16, 7).toString('base64url');
    const { scryptSync } = await import('node:crypto');
    const hash = scryptSync(GOOD, Buffer.alloc(16, 7), 32, { N: 1024, r: 8, p: 1 }).toString('base64url');
    expect(await best.verify(GOOD, `$scrypt$n=1024,r=8,p=1$${salt}$${hash}`)).toEqual({
      matches: true,
      isOld: true,
    });
  });

  test('matches for any encoding of its accents', async () => {
    const stored = await best.hash('p\u00e4ssw\u00f6rter');
    expect(await best.verify('pa\u0308sswo\u0308rter', stored)).toMatchObject({ matches: true });
  });

  test('costs the same without an account, and matches nothing', async () => {
    const decoy = best.decoy();
    expect(decoy).not.toBe(best.decoy());
    const [scheme] = (await best.hash(GOOD)).split('$').slice(1);
    expect(decoy.split('$')[1]).toBe(scheme);
    expect(await best.verify(GOOD, decoy)).toEqual({ matches: false, isOld: false });
  });

  test('causes a fault in an unknown format, which hides it', async () => {
    await expect(best.verify(GOOD, '$md5$x$y$z')).rejects.toThrow('unknown form');
  });
});

describe('hashes', () => {
  let ends: (() => void)[];
  const work = () => new Promise<void>((resolve) => ends.push(resolve));
  beforeEach(() => {
    ends = [];
  });

  test('run two at a time in order; one more than 32 waiting is refused', async () => {
    const queue = new HashQueue();
    const begun: number[] = [];
    const all = Array.from({ length: 34 }, (_, number) =>
      queue.run(async () => {
        begun.push(number);
        await work();
      }),
    );
    await expect(queue.run(work)).rejects.toMatchObject({ code: 'overloaded' });
    expect([begun, queue.waiting]).toEqual([[0, 1], 32]);
    for (let ended = 0; ended < 34; ended++) {
      while (ends[ended] === undefined) await Promise.resolve();
      ends[ended]!();
    }
    await Promise.all(all);
    expect(begun).toEqual(Array.from({ length: 34 }, (_, number) => number));
  });

  test('begin when another has ended, also when that one failed', async () => {
    const queue = new HashQueue({ runningMax: 1, waitingMax: 1 });
    const first = queue.run(async () => {
      await work();
      throw new Error('broken');
    });
    const second = queue.run(async () => 'done');
    await expect(queue.run(work)).rejects.toMatchObject({ code: 'overloaded', extras: { retryAfterSeconds: 5 } });
    expect(queue.waiting).toBe(1);
    ends[0]!();
    await expect(first).rejects.toThrow('broken');
    expect(await second).toBe('done');
    expect(await queue.run(async () => 'again')).toBe('again');
  });

  test('never exceed the limit, in any order of ends', async () => {
    const queue = new HashQueue({ runningMax: 2, waitingMax: 100 });
    let running = 0;
    let most = 0;
    const one = async (turns: number) => {
      running += 1;
      most = Math.max(most, running);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      running -= 1;
    };
    await Promise.all(Array.from({ length: 60 }, (_, number) => queue.run(() => one((number * 7) % 5))));
    expect([most, running, queue.waiting]).toEqual([2, 0, 0]);
  });
});

describe('attempts of one client', () => {
  test('stop at a limit per minute, return one by one, and count per client', () => {
    let now = 0;
    const limit = new ClientLimit({ attemptsPerMinuteMax: 3, clock: { now: () => now } });
    for (let attempt = 0; attempt < 3; attempt++) limit.take('one');
    expect(apiErrorOf(() => limit.take('one'))).toMatchObject({
      code: 'rate_limit_exceeded',
      extras: { retryAfterSeconds: 20 },
    });
    expect(apiErrorOf(() => limit.take('two'))).toBeUndefined();
    now += 20_000;
    expect(apiErrorOf(() => limit.take('one'))).toBeUndefined();
    expect(apiErrorOf(() => limit.take('one'))).toBeDefined();
  });

  test('count for a limited number of clients, as long as their minute lasts', () => {
    let now = 0;
    const limit = new ClientLimit({ attemptsPerMinuteMax: 3, clock: { now: () => now }, clientsMax: 10 });
    for (let client = 0; client < 25; client++) limit.take(`client ${client}`);
    expect(limit.size).toBe(10);
    now += 60_000;
    limit.take('another');
    expect(limit.size).toBe(1);
  });
});
