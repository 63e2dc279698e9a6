// What a meter is made with, and what it and its session say to each other.
import type { Clock } from '../../../machines/clock.ts';
import type { ListedPrice } from '../../config/prices/price-list.ts';
import type {
  HoldGrant,
  HoldRequest,
  LedgerPrice,
  PriceBound,
  Redactions,
  SessionEnd,
  SessionHead,
  UsageLine,
} from '../store/calls.ts';
import type { ReachedCeiling } from '../store/ceiling-words.ts';

/** One member of a chain, as the bill sees it. `own`: on the customer's own provider key. */
export interface MeterCandidate {
  slug: string;
  own: boolean;
  /** With an own key that counts under ceilings on spend, what it counts for: nothing is charged. */
  price: LedgerPrice;
  /** An own key that counts under ceilings on spend: what it may use is held, and no credit. */
  counted?: true;
  /** Minutes of the price are those of an open connection. */
  metered?: 'connection';
  /** Which of its prices in the session this is, as in `UsageLine`. The meter says it. */
  rate?: number;
}

/** What the session says of its audio. */
export interface MeterSource {
  /** Lines that finals have settled; they only grow. */
  settledLines(): UsageLine[];
  /** The same, with what was sent and has no final yet. */
  sentLines(): UsageLine[];
  /** Up to where it is settled whose the audio is. */
  settledMs(): number;
  /** Up to where some leg was given the audio. */
  sentMs(): number;
  /** Audio of the client, heard or not. */
  receivedMs(): number;
  /** How long the connection may be open before it comes to what `extended` told last; without end where that costs nothing. */
  connectionLeftMs(): number;
  /** What was redacted so far; undefined for nothing. */
  redactions?(): Redactions | undefined;
}

/** Why no more may be spent. `ledger`: it did not answer for too long. */
export type Shortage = 'credit' | 'daily_spend' | 'ceiling' | 'max_cost' | 'ledger';

/**
 * `free`: nothing is held, since nothing is charged. `held`: audio goes as far as what is held. `starved`: it waits for more.
 * `trusted`: it continues without, since the ledger does not answer. `short`: no more is to come.
 */
export type MeterState = 'free' | 'held' | 'starved' | 'trusted' | 'short';

export interface MeterListener {
  /** More may be sent than before; and a metered connection of the model that hears may be open for so long, in all. */
  extended(allowedMs: number, connectionMs: number): void;
  /** The connection was open for as long as what is held pays for. */
  ranOut(): void;
  /** Less was granted than requested: what is left may be the last. Once. */
  low(shortage: Shortage, leftMs: number): void;
  /** A part of a ceiling on spend is used that was not reported before. */
  reached?(ceiling: ReachedCeiling): void;
}

/** What a session or file may spend at first. */
export interface Grant extends Omit<HoldGrant, 'limitedBy'> {
  /** What kept it from being all that was wanted. */
  limitedBy: HoldGrant['limitedBy'] | 'max_cost';
  /** The ledger did not answer, and would have granted every hold: nothing is held. */
  onTrust?: true;
}

/** Reservations, as a meter needs them. */
export interface MeterReservations {
  /**
   * Rejects with an ApiError, which leaves all as it was. `isUnlimited`: the ledger would grant every hold. `roomMicroUsd`: the most
   * that the session may still cost.
   */
  begin(head: SessionHead, member: MeterCandidate, isUnlimited: boolean, roomMicroUsd?: bigint): Promise<Grant>;
  renew(head: SessionHead, lines: readonly UsageLine[], hold: HoldRequest): Promise<HoldGrant>;
  /** The same for a model that hears on an own key, under ceilings on spend alone. */
  renewOwn(head: SessionHead, lines: readonly UsageLine[], hold: HoldRequest): Promise<HoldGrant>;
  /** Settles once and for good; whatever happens in between is theirs to bear. */
  settle(head: SessionHead, end: SessionEnd): unknown;
}

export interface MeterOptions {
  head: SessionHead;
  members: readonly MeterCandidate[];
  /** What the opening of the session was granted. */
  grant: Grant;
  /** Prices up to which ceilings that are reached leave models: dearer ones are not among the members. Undefined without any. */
  bounds?: readonly PriceBound[] | undefined;
  /** Whether the ledger grants every hold of this customer. */
  isUnlimited: boolean;
  /** The most that the session may cost. */
  maxMicroUsd?: bigint | undefined;
  clock: Clock;
  reservations: MeterReservations;
  /** Audio that is let through without a hold while the ledger does not answer. */
  graceMs: number;
}

// A session may have one model at several prices: its options are changed, or a chain names it twice. Each price is a rate of its own.
/** The member with its rate behind those that have theirs: 0, which is left out, for the first price of its model and account, then 1, 2, … */
export function rated(member: MeterCandidate, before: readonly MeterCandidate[]): MeterCandidate {
  const { slug, own, price, metered, counted } = member;
  const same = before.filter((other) => other.slug === slug && other.own === own);
  const known = same.find(
    (other) => other.metered === metered && other.counted === counted && isSamePrice(other.price, price),
  );
  const rate = known === undefined ? Math.max(0, ...same.map((other) => (other.rate ?? 0) + 1)) : known.rate;
  if (!rate) return member;
  const named: MeterCandidate = { slug, own, price };
  if (metered !== undefined) named.metered = metered;
  if (counted) named.counted = true;
  named.rate = rate;
  return named;
}

const isSamePrice = (one: LedgerPrice, other: LedgerPrice): boolean =>
  one.unit === other.unit && one.microUsd === other.microUsd && one.minimumMicroUsd === other.minimumMicroUsd;

// What each member of a chain costs, in the words of the bill.
/** The chain as the bill sees it, in the same order. What a price is metered by is no part of what the ledger keeps of it. */
export function pricedMembers(
  chain: readonly { slug: string; own: boolean; price: ListedPrice; counted?: ListedPrice }[],
): MeterCandidate[] {
  return chain.map(({ slug, own, counted, price: listed }) => {
    const { metered, ...price } = counted ?? listed;
    const member: MeterCandidate = { slug, own, price };
    if (metered !== undefined) member.metered = metered;
    if (counted !== undefined) member.counted = true;
    return member;
  });
}

/** As its holds are reckoned: an own key that counts under ceilings is held for as if it were paid for. */
export const asHeld = (member: MeterCandidate): MeterCandidate =>
  member.counted ? { slug: member.slug, own: false, price: member.price } : member;
