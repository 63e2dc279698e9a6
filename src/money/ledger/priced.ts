// What each member of a chain costs, in the words of the bill.
import type { ListedPrice } from '../../config/prices/price-list.ts';
import type { MeterMember } from './meter.ts';

/** The chain as the bill sees it, in the same order. What a price is metered by is no part of what the ledger keeps of it. */
export function pricedMembers(chain: readonly { slug: string; own: boolean; price: ListedPrice }[]): MeterMember[] {
  return chain.map(({ slug, own, price: { metered, ...price } }) =>
    metered === undefined ? { slug, own, price } : { slug, own, price, metered },
  );
}
