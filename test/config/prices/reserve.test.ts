// The bound of what a chain can cost: it holds for every way in which the audio may be shared, and its inverse keeps to it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costMicroUsd } from '../../../src/config/prices/price.ts';
import {
  boundMicroUsd,
  carriedMs,
  dearestMicroUsd,
  type ReserveCandidate,
} from '../../../src/config/prices/reserve.ts';
import { drawn } from '../../fakes/drawn.ts';

const member = (slug: string, microUsd: bigint, more: Partial<ReserveCandidate['price']> & { own?: boolean } = {}) => {
  const { own = false, ...price } = more;
  return { slug, own, price: { unit: 'minute' as const, microUsd, minimumMicroUsd: 0n, ...price } };
};

const anyMember = fc.record({
  slug: fc.constantFrom('a/1', 'a/2', 'b/1', 'c/1', 'd/1'),
  own: fc.boolean(),
  price: fc.record({
    unit: fc.constantFrom('minute' as const, 'session' as const),
    microUsd: fc.oneof(fc.constant(0n), fc.bigInt(1n, 10n), fc.bigInt(1n, 1_000_000n)),
    minimumMicroUsd: fc.oneof(fc.constant(0n), fc.bigInt(1n, 100_000n)),
  }),
});
/** One price for each slug, as in a price list. */
const chain = fc
  .array(anyMember, { minLength: 1, maxLength: 6 })
  .map((members) => members.map((each) => ({ ...each, price: members.find(({ slug }) => slug === each.slug)!.price })));

/** What the ledger charges: one line for each model and kind of key. */
function cost(members: readonly ReserveCandidate[], shares: readonly number[]): bigint {
  const lines = new Map<string, { member: ReserveCandidate; ms: number }>();
  for (const [index, each] of members.entries()) {
    const name = `${each.own} ${each.slug}`;
    lines.set(name, { member: each, ms: (lines.get(name)?.ms ?? 0) + (shares[index] ?? 0) });
  }
  return [...lines.values()].reduce((sum, { member: { price, own }, ms }) => sum + costMicroUsd(price, ms, own), 0n);
}

describe('the bound', () => {
  it('never falls below the charge, for any split of audio among the candidates', () => {
    const shares = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100 }), fc.nat(10_000_000)), {
      minLength: 6,
      maxLength: 6,
    });
    fc.assert(
      fc.property(chain, shares, (members, parts) => {
        const audioMs = members.reduce((sum, _, index) => sum + parts[index]!, 0);
        expect(cost(members, parts) <= boundMicroUsd(members, audioMs)).toBe(true);
      }),
      { seed: 8, numRuns: drawn(5_000) },
    );
  });

  it('grows with the audio and never shrinks', () => {
    fc.assert(
      fc.property(chain, fc.nat(10_000_000), fc.nat(10_000_000), (members, a, b) => {
        const [less, more] = a < b ? [a, b] : [b, a];
        expect(boundMicroUsd(members, less) <= boundMicroUsd(members, more)).toBe(true);
      }),
      { seed: 9, numRuns: 1_000 },
    );
  });

  it.each<[string, ReserveCandidate[], number, bigint]>([
    ['a minute at the price of a minute, and one for rounding', [member('a', 4_300n)], 60_000, 4_301n],
    ['rounded up', [member('a', 1n)], 1, 2n],
    ['the dearest minute of the chain', [member('a', 4_300n), member('b', 6_000n)], 60_000, 6_002n],
    ['each session once', [member('a', 150_000n, { unit: 'session' }), member('b', 600n)], 120_000, 151_202n],
    ['each minimum', [member('a', 60n, { minimumMicroUsd: 10_000n }), member('b', 6n)], 60_000, 10_062n],
    [
      'a model twice in the chain once',
      [member('a', 150n, { unit: 'session' }), member('a', 150n, { unit: 'session' })],
      1,
      151n,
    ],
    ['nothing for own keys and free models', [member('a', 4_300n, { own: true }), member('b', 0n)], 60_000, 0n],
    [
      'only the paid ones in addition to an own key',
      [member('a', 9_000n, { own: true }), member('b', 60n)],
      60_000,
      61n,
    ],
    ['nothing without audio', [member('a', 150_000n, { unit: 'session' })], 0, 0n],
    ['nothing for less than nothing', [member('a', 4_300n)], -1, 0n],
    ['a part of a millisecond as a whole one', [member('a', 60_000n)], 0.2, 2n],
  ])('equals %s', (_, members, audioMs, wanted) => {
    expect(boundMicroUsd(members, audioMs)).toBe(wanted);
  });
});

const onceEach = (members: readonly ReserveCandidate[]) => members.map((each) => ({ ...each, channels: 1 }));

describe('the dearest member', () => {
  it('covers each candidate’s charge for all audio, within the chain’s bound', () => {
    fc.assert(
      fc.property(chain, fc.oneof(fc.nat(100), fc.nat(10_000_000)), (members, audioMs) => {
        const dearest = dearestMicroUsd(onceEach(members), audioMs);
        for (const { price, own } of members) expect(costMicroUsd(price, audioMs, own) <= dearest).toBe(true);
        expect(dearest <= boundMicroUsd(members, audioMs)).toBe(true);
        expect(members.some((each) => boundMicroUsd([each], audioMs) === dearest)).toBe(true);
      }),
      { seed: 11, numRuns: drawn(5_000) },
    );
  });

  it.each<[string, ReserveCandidate[], number, bigint]>([
    [
      'one session, not all of the chain',
      [member('a', 150_000n, { unit: 'session' }), member('b', 90_000n, { unit: 'session' })],
      60_000,
      150_001n,
    ],
    ['the minute where that is more', [member('a', 100n, { unit: 'session' }), member('b', 600n)], 60_000, 601n],
    ['the session where that is more', [member('a', 100n, { unit: 'session' }), member('b', 600n)], 1_000, 101n],
    ['nothing for own keys and free models', [member('a', 4_300n, { own: true }), member('b', 0n)], 60_000, 0n],
    ['nothing without audio', [member('a', 150_000n, { unit: 'session' })], 0, 0n],
    ['nothing without members', [], 60_000, 0n],
  ])('equals %s', (_, members, audioMs, wanted) => {
    expect(dearestMicroUsd(onceEach(members), audioMs)).toBe(wanted);
  });

  it('follows the candidate paid for each of eight channels, where that is more', () => {
    const members = [
      { ...member('a', 600n), channels: 1 },
      { ...member('b', 100n), channels: 8 },
    ];
    expect(dearestMicroUsd(members, 60_000)).toBe(801n);
  });
});

describe('the audio that an amount carries', () => {
  it('never costs more than the amount, and a millisecond more would not be sure', () => {
    fc.assert(
      fc.property(chain, fc.bigInt(-10n, 10_000_000n), (members, amount) => {
        const ms = carriedMs(members, amount);
        if (ms === Number.POSITIVE_INFINITY) {
          const longest = boundMicroUsd(members, 1e9);
          expect(longest === 0n || longest <= amount).toBe(true);
          return;
        }
        expect(Number.isSafeInteger(ms) && ms >= 0).toBe(true);
        expect(ms === 0 || boundMicroUsd(members, ms) <= amount).toBe(true);
        expect(boundMicroUsd(members, ms + 1) > amount).toBe(true);
      }),
      { seed: 10, numRuns: drawn(5_000) },
    );
  });

  it.each<[string, ReserveCandidate[], bigint, number]>([
    ['endless when nothing costs', [member('a', 0n), member('b', 5n, { own: true })], 0n, Number.POSITIVE_INFINITY],
    ['endless once a session is paid', [member('a', 150n, { unit: 'session' })], 151n, Number.POSITIVE_INFINITY],
    ['nothing while a session is not', [member('a', 150n, { unit: 'session' })], 150n, 0],
    ['a minute for its price and one', [member('a', 4_300n)], 4_301n, 60_000],
    ['nothing for nothing', [member('a', 4_300n)], 0n, 0],
    ['at most what a number can say', [member('a', 1n)], 10n ** 18n, Number.MAX_SAFE_INTEGER],
  ])('equals %s', (_, members, amount, wanted) => {
    expect(carriedMs(members, amount)).toBe(wanted);
  });
});
