import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Quota } from '../../src/runtime/limits/quota.ts';

/** Takes as many units as the organisation can have. */
function takeAll(quota: Quota, organisationId: string): number {
  let count = 0;
  while (quota.take(organisationId) === undefined) count++;
  return count;
}

describe('a quota', () => {
  test('lets one organisation have half where it is alone', () => {
    expect([1, 2, 3, 4, 16, 1_000].map((max) => takeAll(new Quota(max), 'one'))).toEqual([1, 1, 2, 2, 8, 500]);
  });

  test('lets each further organisation have half of what is left', () => {
    const quota = new Quota(64);
    expect(['a', 'b', 'c', 'd'].map((each) => takeAll(quota, each))).toEqual([32, 16, 8, 4]);
    expect(quota.used).toBe(60);
  });

  test('may have another share, or none', () => {
    expect(takeAll(new Quota(16, 0.75), 'one')).toBe(12);
    expect(takeAll(new Quota(16, 1), 'one')).toBe(16);
  });

  test('says why there is none', () => {
    const quota = new Quota(2);
    expect(quota.take('one', 3)).toBe('full');
    expect([quota.take('one'), quota.take('one'), quota.take('two'), quota.take('three')]).toEqual([
      undefined,
      'share',
      undefined,
      'full',
    ]);
  });

  test('keeps a holder within its fixed limit, also where the total is used up', () => {
    const quota = new Quota(3, 1);
    expect([quota.shortage('one', 2, 2), quota.shortage('one', 3, 2), quota.shortage('one', 4)]).toEqual([
      undefined,
      'share',
      'full',
    ]);
    quota.count('two', 3);
    expect([quota.hold('two', 3), quota.hold('one', 2)]).toEqual(['share', 'full']);
  });

  test('counts without a total where none is given', () => {
    const quota = new Quota();
    expect(Array.from({ length: 1_000 }, () => quota.take('one'))).toEqual(Array(1_000).fill(undefined));
    expect(quota.hold('one', 1_000)).toBe('share');
  });

  test('releases a held unit once', () => {
    const quota = new Quota(4, 1);
    const [first, second] = [quota.hold('one'), quota.hold('one')];
    if (typeof first === 'string' || typeof second === 'string') throw new Error('There was room for both.');
    first();
    first();
    expect([quota.used, quota.usedBy('one')]).toEqual([1, 1]);
    second();
    expect(quota.used).toBe(0);
  });

  test('reuses what was released, and forgets organisations without a share', () => {
    const quota = new Quota(4);
    takeAll(quota, 'one');
    quota.giveBack('one', 2);
    expect([quota.used, quota.usedBy('one'), takeAll(quota, 'two'), takeAll(quota, 'one')]).toEqual([0, 0, 2, 1]);
  });

  test('keeps room for a newcomer after any sequence of takes and releases', () => {
    const steps = fc.array(
      fc.record({ organisation: fc.integer({ min: 0, max: 3 }), amount: fc.integer({ min: -50_000, max: 200_000 }) }),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const quota = new Quota(1_000_000);
        for (const { organisation, amount } of all) {
          const name = String(organisation);
          if (amount >= 0) quota.take(name, amount);
          else quota.giveBack(name, Math.min(-amount, quota.usedBy(name)));
        }
        // Of four, the last may have left a sixteenth.
        expect(quota.max - quota.used).toBeGreaterThanOrEqual(quota.max / 16 - 4);
        expect(quota.take('newcomer', quota.max / 32 - 4)).toBe(undefined);
      }),
    );
  });

  test('refuses none of many organisations with a little each', () => {
    const quota = new Quota(100);
    for (let organisation = 0; organisation < 90; organisation++) expect(quota.take(`${organisation}`)).toBe(undefined);
  });
});
