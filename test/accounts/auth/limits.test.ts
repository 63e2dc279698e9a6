// Limits of one key: requests and tokens per minute, sessions at a time, on a simulated clock.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { createKeyLimits } from '../../../src/accounts/auth/limits.ts';
import { ApiError } from '../../../src/api/errors.ts';
import { MinuteLimit } from '../../../src/runtime/limits/minute-limit.ts';
import { apiKey } from '../../fakes/api-keys.ts';

const keyA = apiKey({ id: 'key_a' });
const keyB = apiKey({ id: 'key_b' });

function limits(requestsPerMinuteMax: number, sessionsMax = 2, keysMax?: number) {
  const clock = new SimulatedClock();
  return {
    clock,
    limits: createKeyLimits({
      requestsPerMinutePerKeyMax: requestsPerMinuteMax,
      sessionsPerKeyMax: sessionsMax,
      clock,
      ...(keysMax === undefined ? {} : { keysMax }),
    }),
  };
}

function refused(run: () => unknown): ApiError {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

describe('requests per minute', () => {
  test('allow the whole limit at once; the next request gets a retry time', () => {
    const { limits: keys } = limits(600);
    for (let request = 1; request <= 600; request++) {
      expect(keys.takeRequest(keyA)).toEqual({
        'RateLimit-Limit': '600',
        'RateLimit-Remaining': `${600 - request}`,
        'RateLimit-Reset': `${Math.ceil(request / 10)}`,
      });
    }
    const refusal = refused(() => keys.takeRequest(keyA));
    expect(refusal).toMatchObject({
      code: 'rate_limit_exceeded',
      status: 429,
      message: 'This key may make 600 requests per minute. Try again in 1 s.',
      extras: {
        retryAfterSeconds: 1,
        headers: { 'RateLimit-Limit': '600', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '60' },
      },
    });
  });

  test('admit a caller who returns at the given time, with any limit', () => {
    for (const limit of [1, 2, 7, 59, 61, 600]) {
      const { limits: keys, clock } = limits(limit);
      for (let request = 0; request < limit; request++) keys.takeRequest(keyA);
      for (let round = 0; round < 5; round++) {
        const { extras } = refused(() => {
          for (;;) keys.takeRequest(keyA);
        });
        clock.increment(extras.retryAfterSeconds! * 1000);
        expect(() => keys.takeRequest(keyA)).not.toThrow();
      }
    }
  });

  test('cost nothing when refused', () => {
    const { limits: keys, clock } = limits(60);
    for (let request = 0; request < 60; request++) keys.takeRequest(keyA);
    for (let request = 0; request < 1000; request++) refused(() => keys.takeRequest(keyA));
    clock.increment(1000);
    keys.takeRequest(keyA);
    refused(() => keys.takeRequest(keyA));
  });

  test('return to the whole limit after a quiet minute', () => {
    const { limits: keys, clock } = limits(60);
    for (let request = 0; request < 60; request++) keys.takeRequest(keyA);
    clock.increment(3_600_000);
    for (let request = 0; request < 60; request++) keys.takeRequest(keyA);
    refused(() => keys.takeRequest(keyA));
  });

  test('count separately for each key', () => {
    const { limits: keys } = limits(1);
    keys.takeRequest(keyA);
    keys.takeRequest(keyB);
    refused(() => keys.takeRequest(keyA));
  });

  test('any minute lets through at most twice the limit, and steady requests at the rate always pass', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 120 }), fc.array(fc.nat(3000), { maxLength: 300 }), (limit, pausesMs) => {
        const { limits: keys, clock } = limits(limit);
        const let_in: number[] = [];
        for (const pauseMs of pausesMs) {
          clock.increment(pauseMs);
          try {
            keys.takeRequest(keyA);
            let_in.push(clock.now());
          } catch {}
        }
        for (const start of let_in) {
          expect(let_in.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(2 * limit);
        }
      }),
      { numRuns: 50 },
    );
    const { limits: keys, clock } = limits(600);
    for (let request = 0; request < 5000; request++) {
      clock.increment(100);
      keys.takeRequest(keyA);
    }
  });

  test('count for a limited number of keys; the longest idle is dropped', () => {
    const { limits: keys, clock } = limits(1, 2, 3);
    for (const key of ['a', 'b', 'c']) keys.takeRequest(apiKey({ id: key }));
    expect(keys.forgottenKeys).toBe(0);
    keys.takeRequest(apiKey({ id: 'd' }));
    expect(keys.forgottenKeys).toBe(1);
    for (const key of ['b', 'c', 'd']) refused(() => keys.takeRequest(apiKey({ id: key })));
    clock.increment(60_000);
    for (let key = 0; key < 3; key++) keys.takeRequest(apiKey({ id: `later ${key}` }));
    expect(keys.forgottenKeys).toBe(1);
  });
});

describe('sessions at a time', () => {
  test('refuse one more than the limit until one has ended', () => {
    const { limits: keys } = limits(600, 2);
    const end = keys.takeSession(keyA);
    keys.takeSession(keyA);
    keys.takeSession(keyB);
    expect(refused(() => keys.takeSession(keyA))).toMatchObject({
      code: 'too_many_sessions',
      status: 429,
      message: 'This key may have 2 sessions at a time. End one, or try again later.',
      extras: {
        retryAfterSeconds: 5,
        headers: { 'RateLimit-Limit': '2', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '5' },
      },
    });
    end();
    keys.takeSession(keyA);
  });

  test('ending a session twice frees one place only', () => {
    const { limits: keys } = limits(600, 2);
    const end = keys.takeSession(keyA);
    keys.takeSession(keyA);
    end();
    end();
    keys.takeSession(keyA);
    refused(() => keys.takeSession(keyA));
  });

  test('count right after any order of opens and ends', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 100 }), (steps) => {
        const { limits: keys } = limits(600, 3);
        const ends: (() => void)[] = [];
        for (const step of steps) {
          if (step > 2) ends.shift()?.();
          else if (ends.length < 3) ends.push(keys.takeSession(keyA));
          else refused(() => keys.takeSession(keyA));
        }
      }),
    );
  });
});

describe('a key’s own limits', () => {
  test.each([
    ['requests', { requestsPerMinuteMax: 3 }, 'takeRequest', 'make 3 requests'],
    ['client tokens', { tokensPerMinuteMax: 3 }, 'takeToken', 'mint 3 client tokens'],
  ] as const)('overrides the node’s limit of %s, for this key alone', (_, settings, take, words) => {
    const { limits: keys } = limits(1);
    const own = apiKey({ id: 'own', ...settings });
    for (let count = 2; count >= 0; count--) expect(keys[take](own)['RateLimit-Remaining']).toBe(`${count}`);
    const refusal = refused(() => keys[take](own));
    expect([refusal.code, refusal.message]).toEqual(['rate_limit_exceeded', expect.stringContaining(words)]);
    expect(refusal.extras.retryAfterSeconds).toBe(20);
    keys[take](keyA);
  });

  test('overrides the node’s limit of sessions, also when changed while sessions are open', () => {
    const { limits: keys } = limits(600, 1);
    const own = apiKey({ id: 'own', sessionsMax: 2 });
    keys.takeSession(own);
    keys.takeSession(own);
    expect(refused(() => keys.takeSession(own)).message).toContain('2 sessions');
    const end = keys.takeSession({ ...own, sessionsMax: 3 });
    expect(refused(() => keys.takeSession({ ...own, sessionsMax: 1 })).message).toContain('1 sessions');
    end();
    refused(() => keys.takeSession(own));
  });

  test('apply at once when raised; what was used stays used', () => {
    const { limits: keys, clock } = limits(600);
    const own = apiKey({ requestsPerMinuteMax: 2 });
    keys.takeRequest(own);
    keys.takeRequest(own);
    refused(() => keys.takeRequest(own));
    // The bucket was empty: of a larger one as well, but it fills faster.
    clock.increment(100);
    keys.takeRequest({ ...own, requestsPerMinuteMax: 600 });
    refused(() => keys.takeRequest({ ...own, requestsPerMinuteMax: 600 }));
  });

  test('requests, tokens and sessions do not eat into each other', () => {
    const { limits: keys } = limits(1, 1);
    const own = apiKey({ tokensPerMinuteMax: 1 });
    keys.takeRequest(own);
    keys.takeToken(own);
    keys.takeSession(own);
    for (const take of [keys.takeRequest, keys.takeToken, keys.takeSession]) refused(() => take(own));
  });

  test('apply separately to a rolled key and its successor', () => {
    const { limits: keys } = limits(1, 1);
    keys.takeRequest(apiKey({ id: 'old', rolledTo: 'new' }));
    keys.takeRequest(apiKey({ id: 'new' }));
  });

  test('default to 60 tokens a minute', () => {
    const { limits: keys } = limits(600);
    for (let count = 0; count < 60; count++) keys.takeToken(keyA);
    refused(() => keys.takeToken(keyA));
  });
});

describe('a limit by the minute', () => {
  test('lets through at most twice its allowance in any 60 s, also when some are given back', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.array(fc.record({ pauseMs: fc.nat(4000), back: fc.boolean() }), { maxLength: 300 }),
        (max, steps) => {
          const clock = new SimulatedClock();
          const limit = new MinuteLimit({ clock });
          const kept: number[] = [];
          for (const { pauseMs, back } of steps) {
            clock.increment(pauseMs);
            if (limit.take('a', max).retryAfterSeconds > 0) continue;
            if (back) limit.giveBack('a', max);
            else kept.push(clock.now());
          }
          for (const start of kept) {
            expect(kept.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(2 * max);
          }
        },
      ),
      { numRuns: 100, seed: 7 },
    );
  });

  test('takes again what was returned, and no more', () => {
    const limit = new MinuteLimit({ clock: new SimulatedClock() });
    const take = () => limit.take('a', 2).retryAfterSeconds === 0;
    expect([take(), take(), take()]).toEqual([true, true, false]);
    limit.giveBack('a', 2);
    expect([take(), take()]).toEqual([true, false]);
    for (let count = 0; count < 5; count++) limit.giveBack('a', 2);
    expect(limit.size).toBe(0);
    expect([take(), take(), take()]).toEqual([true, true, false]);
  });
});

describe('sessions of an organisation', () => {
  const keysOf = (organisationId: string, count: number) =>
    Array.from({ length: count }, (_, index) => apiKey({ id: `${organisationId}_key_${index}`, organisationId }));

  test('stop at a limit over all of its keys, and leave room for others', () => {
    const keys = createKeyLimits({
      requestsPerMinutePerKeyMax: 600,
      sessionsPerKeyMax: 2,
      sessionsPerOrganisationMax: 5,
      clock: new SimulatedClock(),
    });
    const leave = keysOf('org_a', 3)
      .flatMap((key) => [key, key])
      .slice(0, 5)
      .map((key) => keys.takeSession(key));
    const [one] = keysOf('org_a', 4).slice(3);
    const refusal = refused(() => keys.takeSession(one!));
    expect([refusal.code, refusal.message.includes('organisation')]).toEqual(['too_many_sessions', true]);
    keys.takeSession(keysOf('org_b', 1)[0]!);
    leave[0]!();
    leave[0]!();
    // What was refused for its organisation did not count for the key.
    keys.takeSession(one!);
    refused(() => keys.takeSession(one!));
  });
});

describe('files at a time', () => {
  const settings = {
    requestsPerMinutePerKeyMax: 600,
    sessionsPerKeyMax: 9,
    filesPerKeyMax: 2,
    filesPerOrganisationMax: 3,
  };
  const inOne = (id: string, own = {}) => apiKey({ id, organisationId: 'org_a', ...own });

  test('count separately from sessions, by key and by organisation', () => {
    const keys = createKeyLimits({ ...settings, clock: new SimulatedClock() });
    const end = keys.takeFile(inOne('one'));
    keys.takeFile(inOne('one'));
    for (let session = 0; session < 9; session++) keys.takeSession(inOne('one'));
    expect(refused(() => keys.takeFile(inOne('one'))).message).toBe(
      'This key may have 2 files in progress at a time. Wait for an answer, or try again later.',
    );
    keys.takeFile(inOne('other'));
    expect(refused(() => keys.takeFile(inOne('other'))).message).toContain('This organisation may have 3 files');
    end();
    keys.takeFile(inOne('other'));
  });

  test('follow a key’s own limit of sessions', () => {
    const keys = createKeyLimits({ ...settings, clock: new SimulatedClock() });
    keys.takeFile(inOne('one', { sessionsMax: 1 }));
    refused(() => keys.takeFile(inOne('one', { sessionsMax: 1 })));
  });
});
