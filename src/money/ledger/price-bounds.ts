// What is left of a chain once a ceiling on spend is reached that leaves models up to a price.
import { ownerOf } from '../../api/slug.ts';
import { usdOf } from '../../config/prices/price.ts';
import { StoreError } from '../../store/store-error.ts';
import type { HoldGrant, HoldRequest, PriceBound } from '../store/calls.ts';
import type { MeterCandidate } from './meter-contract.ts';

/** The price of a minute, charged or counted; undefined where it is for each session. */
function minuteOf({ own, counted, price }: MeterCandidate): bigint | undefined {
  if (own && !counted) return 0n;
  return price.unit === 'minute' || price.microUsd === 0n ? price.microUsd : undefined;
}

/** Of the dearest, as a hold for them says it: nothing where one of them has a price for each session. */
export function minuteIn(members: readonly MeterCandidate[]): Pick<HoldRequest, 'minuteMicroUsd'> {
  let dearest = 0n;
  for (const member of members) {
    const minute = minuteOf(member);
    if (minute === undefined) return {};
    if (minute > dearest) dearest = minute;
  }
  return { minuteMicroUsd: dearest };
}

export const isWithin = (member: MeterCandidate, bounds: readonly PriceBound[]): boolean =>
  bounds.every(({ provider, microUsd }) => {
    if (provider !== '' && provider !== ownerOf(member.slug)) return true;
    const minute = minuteOf(member);
    return minute !== undefined && minute <= microUsd;
  });

/** Members that may still be used: the same list where that is all of them. */
export function membersWithin<Member extends MeterCandidate>(
  members: readonly Member[],
  bounds: readonly PriceBound[] = [],
): readonly Member[] {
  const within = bounds.length === 0 ? members : members.filter((member) => isWithin(member, bounds));
  return within.length === members.length ? members : within;
}

/** The ledger has answered so, and keeps what was reached. */
export class RefusedHold extends StoreError {
  override readonly name = 'RefusedHold';
  readonly bounds: readonly PriceBound[];

  constructor({ limitedBy, ceiling = '', onlyUpTo = [] }: HoldGrant) {
    super(limitedBy === 'ceiling' ? 'spend_ceiling' : 'daily_spend', ceiling);
    this.bounds = onlyUpTo;
  }
}

/** Works with the members, and where a ceiling refuses that, with those that it leaves. Rejects as the work does. */
export async function withinBounds<Member extends MeterCandidate, Result>(
  members: readonly Member[],
  work: (members: readonly Member[]) => Promise<Result>,
): Promise<{ result: Result; left: readonly Member[]; bounds: readonly PriceBound[] | undefined }> {
  let left = members;
  let bounds: readonly PriceBound[] | undefined;
  for (;;) {
    try {
      return { result: await work(left), left, bounds };
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      const more = cause instanceof RefusedHold ? cause.bounds : [];
      const cheaper = membersWithin(left, more);
      // Each round leaves fewer of them.
      if (cheaper === left || cheaper.length === 0) throw error;
      left = cheaper;
      bounds = [...(bounds ?? []), ...more];
    }
  }
}

/** The chain as far as its members may still be used, and a warning about each that may not. */
export function chainWithin<Candidate extends { slug: string }>(
  chain: readonly Candidate[],
  members: readonly MeterCandidate[],
  bounds: readonly PriceBound[],
): { chain: Candidate[]; warnings: LeftOut[] } {
  const isKept = (index: number) => isWithin(members[index] as MeterCandidate, bounds);
  return {
    chain: chain.filter((_, index) => isKept(index)),
    warnings: chain.filter((_, index) => !isKept(index)).map(({ slug }) => leftOut(slug, bounds)),
  };
}

interface LeftOut {
  code: string;
  message: string;
  param: string;
}

function leftOut(slug: string, bounds: readonly PriceBound[]): LeftOut {
  const own = bounds.filter(({ provider }) => provider === '' || provider === ownerOf(slug));
  const least = own.reduce((low, { microUsd }) => (microUsd < low ? microUsd : low), own[0]?.microUsd ?? 0n);
  const message = `${slug} is left out: a spend ceiling is reached, so only models up to ${usdOf(least)} USD a minute may be used.`;
  return { code: 'model_left_out', message, param: 'fallbacks' };
}
