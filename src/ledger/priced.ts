// What each member of a chain costs, before anything is asked of it: a model without a price cannot be used.
import { refuse } from '../api/errors.ts';
import type { Mode } from '../api/models.ts';
import type { ListedPrice, PriceList } from '../billing/price-list.ts';
import type { MeterMember } from './meter.ts';

/** The customer's own provider key costs nothing, whatever the model. */
const NOTHING: ListedPrice = { unit: 'minute', microUsd: 0n, minimumMicroUsd: 0n };

/** What the price is metered by is no part of what the ledger keeps of it. */
const memberPrice = ({ metered, ...price }: ListedPrice): Pick<MeterMember, 'price' | 'metered'> =>
  metered === undefined ? { price } : { price, metered };

/** The chain as the bill sees it, in the same order. Throws a Refusal `model_not_priced`. */
export function pricedMembers(
  chain: readonly { slug: string; own: boolean }[],
  mode: Mode,
  prices: Pick<PriceList, 'priceOf'>,
): MeterMember[] {
  return chain.map(({ slug, own }, index) => {
    const price = own ? NOTHING : prices.priceOf(slug, mode);
    if (price !== undefined) return { slug, own, ...memberPrice(price) };
    throw refuse(
      'model_not_priced',
      `The model ${slug} has no ${mode} price here, so it cannot be used on the gateway's account. Its operator can set one, or name another model.`,
      { param: index === 0 ? 'model' : 'fallbacks' },
    );
  });
}
