// Prices and amounts are exact to half a micro-dollar, rounded once.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costMicroUsd, exactPrice, lineCostMicroUsd, microUsdOf, usdOf } from '../../../src/config/prices/price.ts';

const perMinute = (amount: string) => ({ unit: 'minute' as const, amount, byok: '0.00' as const });
const perSession = (amount: string) => ({ ...perMinute(amount), unit: 'session' as const });

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

  it('stays within half a micro-dollar of the exact amount', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: 100_000_000 }), (micro, ms) => {
        const cost = costMicroUsd(perMinute(`0.${String(micro).padStart(6, '0')}`), ms);
        const error = cost * 60_000n - BigInt(micro) * BigInt(ms);
        expect(error >= -30_000n && error <= 30_000n).toBe(true);
      }),
    );
  });

  it.each([
    ['a minimum below the cost', { ...perMinute('0.06'), minimum: '0.0005' }, 1_000, 1_000n],
    ['a minimum above the cost', { ...perMinute('0.06'), minimum: '0.0005' }, 499, 500n],
    ['a minimum for one millisecond', { ...perMinute('0.06'), minimum: '0.0005' }, 1, 500n],
    ['no minimum without audio', { ...perMinute('0.06'), minimum: '0.0005' }, 0, 0n],
    ['a minimum of what is free', { ...perMinute('0'), minimum: '0.0005' }, 1, 500n],
    ['a minimum above a price per session', { ...perSession('0.05'), minimum: '0.06' }, 1, 60_000n],
    ['a minimum below a price per session', { ...perSession('0.05'), minimum: '0.04' }, 1, 50_000n],
  ])('bills %s', (_, price, ms, cost) => {
    expect(costMicroUsd(price, ms)).toBe(cost);
    expect(costMicroUsd(exactPrice(price), ms)).toBe(cost);
    expect(costMicroUsd(price, ms, true), 'with an own key').toBe(0n);
  });

  it('rounds half-up once, against rational arithmetic', () => {
    const microUsd = fc.bigInt({ min: 0n, max: 10n ** 12n });
    const least = fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 10n ** 6n }));
    const audioMs = fc.oneof(fc.integer({ min: 0, max: 60_000 }), fc.integer({ min: 0, max: 10 ** 10 }));
    const property = fc.property(microUsd, least, audioMs, (price, minimum, ms) => {
      const cost = costMicroUsd({ unit: 'minute', microUsd: price, minimumMicroUsd: minimum }, ms);
      // In 60 000ths of a micro-dollar, where the price is exact.
      const exact = price * BigInt(ms);
      const error = cost * 60_000n - exact;
      if (ms > 0 && exact < minimum * 60_000n) expect(cost).toBe(minimum);
      else expect(error > -30_000n && error <= 30_000n, `${cost} for ${exact}/60000`).toBe(true);
    });
    fc.assert(property, { numRuns: 10_000, seed: 5 });
  });

  it('never falls while audio is added, in any portions', () => {
    const price = fc.record({
      unit: fc.constantFrom('minute' as const, 'session' as const),
      microUsd: fc.bigInt({ min: 0n, max: 100_000n }),
      minimumMicroUsd: fc.bigInt({ min: 0n, max: 5_000n }),
    });
    const property = fc.property(price, fc.array(fc.nat(5_000), { maxLength: 30 }), (each, pieces) => {
      let [audioMs, posted] = [0, 0n];
      for (const piece of pieces) {
        audioMs += piece;
        const difference = costMicroUsd(each, audioMs) - posted;
        expect(difference >= 0n).toBe(true);
        posted += difference;
      }
      expect(posted).toBe(costMicroUsd(each, audioMs));
    });
    fc.assert(property, { numRuns: 1_000, seed: 6 });
  });

  it('bills the audio or the time of its connection, whichever is more, and never falls as either grows', () => {
    const price = fc.record({
      unit: fc.constant('minute' as const),
      microUsd: fc.bigInt({ min: 0n, max: 100_000n }),
      minimumMicroUsd: fc.bigInt({ min: 0n, max: 5_000n }),
    });
    const pieces = fc.array(fc.tuple(fc.nat(5_000), fc.nat(5_000)), { maxLength: 30 });
    const property = fc.property(price, pieces, (each, grown) => {
      const line = { price: each, own: false, audioMs: 0, connectionMs: 0 };
      let posted = 0n;
      for (const [audioMs, connectionMs] of grown) {
        line.audioMs += audioMs;
        line.connectionMs += connectionMs;
        const cost = lineCostMicroUsd(line);
        expect(cost >= posted).toBe(true);
        posted = cost;
      }
      expect(posted).toBe(costMicroUsd(each, Math.max(line.audioMs, line.connectionMs)));
      expect(lineCostMicroUsd({ ...line, own: true })).toBe(0n);
    });
    fc.assert(property, { numRuns: 1_000, seed: 7 });
  });

  it('writes and reads amounts without loss', () => {
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), (micro) => microUsdOf(usdOf(micro)) === micro));
    expect([usdOf(0n), usdOf(4_300n), usdOf(2_000_000n)]).toEqual(['0.00', '0.0043', '2.00']);
  });

  it.each([
    [-1n, '-0.000001'],
    [-500_000n, '-0.50'],
    [-2_000_000n, '-2.00'],
    [-12_345_678n, '-12.345678'],
  ])('writes %d micro-dollars as %s', (microUsd, text) => {
    expect(usdOf(microUsd)).toBe(text);
  });

  it.each(['', '1.', '.5', '-1', '1e3', '0.0000001', 'NaN'])('refuses "%s" as an amount', (text) => {
    expect(() => microUsdOf(text)).toThrow(/not an amount/);
  });
});
