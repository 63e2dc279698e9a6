// Whether an open leg may become that of another member of the chain: what a connection cannot change has to be the same.
import { isDeepStrictEqual } from 'node:util';
import type { ChainMember } from '../../failover/chain.ts';
import type { LiveTiming } from '../../providers/provider.ts';

/** The model, the account, the place and the price of two members: a turn that has begun is billed at the price it began with. */
export function isSameLeg(one: ChainMember, other: ChainMember): boolean {
  const partOf = ({ slug, credentialId, sampleRate, endpoint, rule, barred, price }: ChainMember) => [
    ...[slug, credentialId, sampleRate, endpoint, rule, barred, price],
  ];
  return isDeepStrictEqual(partOf(one), partOf(other));
}

/** All that audio and deadlines of an open leg go by, but for what ends a turn. */
export function isSameWay(one: LiveTiming, other: LiveTiming): boolean {
  const { turnPauseMs, formattedWaitMs } = one;
  return isDeepStrictEqual(one, { ...other, turnPauseMs, formattedWaitMs });
}
