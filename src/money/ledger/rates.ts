// A session may have one model at several prices: its options are changed, or a chain names it twice. Each price is a rate of its own.
import type { LedgerPrice } from '../store/calls.ts';
import type { MeterMember } from './meter-words.ts';

/** The member with its rate behind those that have theirs: 0, which is left out, for the first price of its model and account, then 1, 2, … */
export function rated(member: MeterMember, before: readonly MeterMember[]): MeterMember {
  const { slug, own, price, metered } = member;
  const same = before.filter((other) => other.slug === slug && other.own === own);
  const known = same.find((other) => other.metered === metered && isSamePrice(other.price, price));
  const rate = known === undefined ? Math.max(0, ...same.map((other) => (other.rate ?? 0) + 1)) : known.rate;
  if (!rate) return member;
  return metered === undefined ? { slug, own, price, rate } : { slug, own, price, metered, rate };
}

const isSamePrice = (one: LedgerPrice, other: LedgerPrice): boolean =>
  one.unit === other.unit && one.microUsd === other.microUsd && one.minimumMicroUsd === other.minimumMicroUsd;
