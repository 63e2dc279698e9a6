// Whether an open leg may become that of another member of the chain: what a connection cannot change has to be the same.
import type { ChainMember } from '../../failover/chain.ts';
import type { LiveTiming } from '../../providers/provider.ts';

/** The model, the account and the place of two members. */
export function isSameLeg(one: ChainMember, other: ChainMember): boolean {
  const partOf = ({ slug, credentialId, sampleRate, endpoint, rule, barred }: ChainMember) =>
    JSON.stringify([slug, credentialId, sampleRate, endpoint, rule, barred]);
  return partOf(one) === partOf(other);
}

/** All that audio and deadlines of an open leg go by, but for what ends a turn. */
export function isSameWay(one: LiveTiming, other: LiveTiming): boolean {
  const { turnPauseMs: _, formattedWaitMs: _wait, ...rest } = one;
  const names = Object.keys(rest) as (keyof typeof rest)[];
  // Infinity and objects of few numbers: as texts they are told apart well enough.
  const textOf = (value: unknown) => JSON.stringify(value, (_name, each) => (each === Infinity ? 'Infinity' : each));
  return names.every((name) => textOf(one[name]) === textOf(other[name]));
}
