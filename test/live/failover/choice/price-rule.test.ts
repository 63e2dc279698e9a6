// `price`: which fallbacks are left out, and which model comes first, by what the gateway charges.
import { expect, it } from 'vitest';
import type { ListedPrice } from '../../../../src/config/prices/price-list.ts';
import type { Degradation, ResolvedCandidate } from '../../../../src/live/failover/chain.ts';
import { chainByPrice } from '../../../../src/live/failover/choice/price-rule.ts';

const minute = (microUsd: bigint): ListedPrice => ({ unit: 'minute', microUsd, minimumMicroUsd: 0n });

const member = (slug: string, price: ListedPrice, more: Partial<ResolvedCandidate> = {}): ResolvedCandidate =>
  ({ slug, price, ...more }) as ResolvedCandidate;

const CHEAP = member('a/cheap', minute(1_000n));
const MIDDLE = member('b/middle', minute(5_000n));
const SAME = member('c/same', minute(5_000n));
const DEAR = member('d/dear', minute(9_000n));
const SESSION = member('e/session', { ...minute(60_000n), unit: 'session' });
const OWN = member('f/own', minute(0n), { own: true, counted: minute(20_000n) });
const LAST = member('local/last', minute(0n), { isLastResort: true });
const EARLIER: Degradation = { code: 'earlier', message: 'before' };

const slugs = (members: readonly ResolvedCandidate[], rule: 'never_dearer' | 'cheapest' | undefined) =>
  chainByPrice({ members: [...members], warnings: [] }, rule).members.map(({ slug }) => slug);

it('keeps the chain without a rule', () => {
  const chain = { members: [MIDDLE, DEAR], warnings: [EARLIER] };
  expect(chainByPrice(chain, undefined)).toEqual(chain);
  expect(chainByPrice({ members: [], warnings: [] }, 'cheapest')).toEqual({ members: [], warnings: [] });
});

it('leaves out fallbacks that are dearer than the first model, and names them', () => {
  const chain = { members: [MIDDLE, DEAR, SAME, CHEAP, SESSION, LAST], warnings: [EARLIER] };
  const { members, warnings } = chainByPrice(chain, 'never_dearer');
  expect(members).toEqual([MIDDLE, SAME, CHEAP, LAST]);
  expect(warnings).toEqual([
    EARLIER,
    {
      code: 'model_left_out',
      message:
        'd/dear is left out: with `price=never_dearer`, 0.009 USD a minute is more than the 0.005 USD a minute of b/middle.',
      param: 'price',
    },
    expect.objectContaining({ message: expect.stringContaining('e/session is left out') }),
  ]);
});

it('takes a model on an own key as free, since nothing is charged for it', () => {
  expect(slugs([OWN, CHEAP, LAST], 'never_dearer')).toEqual(['f/own', 'local/last']);
  expect(slugs([CHEAP, OWN], 'never_dearer')).toEqual(['a/cheap', 'f/own']);
  expect(slugs([CHEAP, OWN], 'cheapest')).toEqual(['f/own', 'a/cheap']);
});

it('begins with the cheapest, keeps the order of equal prices, and leaves the last resort last', () => {
  expect(slugs([DEAR, SAME, SESSION, MIDDLE, CHEAP, LAST], 'cheapest')).toEqual([
    ...['a/cheap', 'c/same', 'b/middle', 'e/session', 'd/dear', 'local/last'],
  ]);
});
