// Prices and amounts are exact to half a micro-dollar, rounded once.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costMicroUsd, microUsdOf, usdOf } from '../../src/billing/price.ts';

const perMinute = (amount: string) => ({ unit: 'minute' as const, amount, byok: '0.00' as const });

describe('prices', () => {
  it.each([
    ['0', 60_000, 0n],
    ['0.0043', 60_000, 4_300n],
    ['0.0043', 1, 0n],
    ['0.03', 1, 1n],
    ['0.03', 3, 2n],
    ['1', 30, 500n],
    ['0.006', 90_000, 9_000n],
  ])('bills %s USD a minute for %d ms as %d micro-dollars, rounded half-up once', (amount, ms, cost) => {
    expect(costMicroUsd(perMinute(amount), ms)).toBe(cost);
  });

  it('bills a per-session price once, and not at all without audio', () => {
    const price = { unit: 'session' as const, amount: '0.05', byok: '0.00' as const };
    expect([costMicroUsd(price, 1), costMicroUsd(price, 3_600_000), costMicroUsd(price, 0)]).toEqual([
      50_000n,
      50_000n,
      0n,
    ]);
  });

  it('is never more than half a micro-dollar off the exact amount', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 100_000_000 }), (micro, ms) => {
        const cost = costMicroUsd(perMinute(`0.${String(micro).padStart(6, '0')}`), ms);
        const error = cost * 60_000n - BigInt(micro) * BigInt(ms);
        expect(error >= -30_000n && error <= 30_000n).toBe(true);
      }),
    );
  });

  it('writes and reads amounts without loss', () => {
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (micro) => microUsdOf(usdOf(micro)) === micro));
    expect([usdOf(0n), usdOf(4_300n), usdOf(2_000_000n)]).toEqual(['0.00', '0.0043', '2.00']);
  });

  it.each(['', '1.', '.5', '-1', '1e3', '0.0000001', 'NaN'])('refuses "%s" as an amount', (text) => {
    expect(() => microUsdOf(text)).toThrow(/not an amount/);
  });
});
