// Limits of one key: requests per minute and sessions at a time, on a simulated clock.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { Refusal } from '../../src/api/errors.ts';
import { createKeyLimits } from '../../src/auth/limits.ts';

function limits(requestsPerMinuteMax: number, sessionsMax = 2, keysMax?: number) {
  const clock = new SimulatedClock();
  return {
    clock,
    limits: createKeyLimits({
      requestsPerMinuteMax,
      sessionsMax,
      clock,
      ...(keysMax === undefined ? {} : { keysMax }),
    }),
  };
}

function refused(run: () => unknown): Refusal {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

describe('requests per minute', () => {
  test('the whole limit may be used at once; the next request is told when to come back', () => {
    const { limits: keys } = limits(600);
    for (let request = 1; request <= 600; request++) {
      expect(keys.takeRequest('key_a')).toEqual({
        'RateLimit-Limit': '600',
        'RateLimit-Remaining': `${600 - request}`,
        'RateLimit-Reset': `${Math.ceil(request / 10)}`,
      });
    }
    const refusal = refused(() => keys.takeRequest('key_a'));
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

  test('who comes back when told is let in, however small the limit', () => {
    for (const limit of [1, 2, 7, 59, 61, 600]) {
      const { limits: keys, clock } = limits(limit);
      for (let request = 0; request < limit; request++) keys.takeRequest('key_a');
      for (let round = 0; round < 5; round++) {
        const { extras } = refused(() => {
          for (;;) keys.takeRequest('key_a');
        });
        clock.increment(extras.retryAfterSeconds! * 1000);
        expect(() => keys.takeRequest('key_a')).not.toThrow();
      }
    }
  });

  test('a refused request costs nothing', () => {
    const { limits: keys, clock } = limits(60);
    for (let request = 0; request < 60; request++) keys.takeRequest('key_a');
    for (let request = 0; request < 1000; request++) refused(() => keys.takeRequest('key_a'));
    clock.increment(1000);
    keys.takeRequest('key_a');
    refused(() => keys.takeRequest('key_a'));
  });

  test('after a quiet minute the whole limit is there again, and no more', () => {
    const { limits: keys, clock } = limits(60);
    for (let request = 0; request < 60; request++) keys.takeRequest('key_a');
    clock.increment(3_600_000);
    for (let request = 0; request < 60; request++) keys.takeRequest('key_a');
    refused(() => keys.takeRequest('key_a'));
  });

  test('one key’s requests are no other key’s business', () => {
    const { limits: keys } = limits(1);
    keys.takeRequest('key_a');
    keys.takeRequest('key_b');
    refused(() => keys.takeRequest('key_a'));
  });

  test('any minute lets through at most twice the limit, and steady requests at the rate always pass', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 120 }), fc.array(fc.nat(3000), { maxLength: 300 }), (limit, pausesMs) => {
        const { limits: keys, clock } = limits(limit);
        const let_in: number[] = [];
        for (const pauseMs of pausesMs) {
          clock.increment(pauseMs);
          try {
            keys.takeRequest('key_a');
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
      keys.takeRequest('key_a');
    }
  });

  test('only so many keys are remembered; the longest idle one is forgotten, and counted when that gave it something', () => {
    const { limits: keys, clock } = limits(1, 2, 3);
    for (const key of ['a', 'b', 'c']) keys.takeRequest(key);
    expect(keys.forgottenKeys).toBe(0);
    keys.takeRequest('d');
    expect(keys.forgottenKeys).toBe(1);
    for (const key of ['b', 'c', 'd']) refused(() => keys.takeRequest(key));
    clock.increment(60_000);
    for (let key = 0; key < 3; key++) keys.takeRequest(`later ${key}`);
    expect(keys.forgottenKeys).toBe(1);
  });
});

describe('sessions at a time', () => {
  test('a session more than the limit is refused until one has ended', () => {
    const { limits: keys } = limits(600, 2);
    const end = keys.takeSession('key_a');
    keys.takeSession('key_a');
    keys.takeSession('key_b');
    expect(refused(() => keys.takeSession('key_a'))).toMatchObject({
      code: 'too_many_sessions',
      status: 429,
      message: 'This key may have 2 sessions at a time. End one, or try again later.',
      extras: {
        retryAfterSeconds: 5,
        headers: { 'RateLimit-Limit': '2', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '5' },
      },
    });
    end();
    keys.takeSession('key_a');
  });

  test('ending a session twice frees one place only', () => {
    const { limits: keys } = limits(600, 2);
    const end = keys.takeSession('key_a');
    keys.takeSession('key_a');
    end();
    end();
    keys.takeSession('key_a');
    refused(() => keys.takeSession('key_a'));
  });

  test('the count is right after any order of opening and ending', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(5), { maxLength: 100 }), (steps) => {
        const { limits: keys } = limits(600, 3);
        const ends: (() => void)[] = [];
        for (const step of steps) {
          if (step > 2) ends.shift()?.();
          else if (ends.length < 3) ends.push(keys.takeSession('key_a'));
          else refused(() => keys.takeSession('key_a'));
        }
      }),
    );
  });
});
