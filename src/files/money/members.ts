// What the models of a chain are paid for a file: by its length or not, and for how many of its channels.
import type { ChainMember } from '../../live/failover/chain.ts';
import type { MeterMember } from '../../money/ledger/meter.ts';
import type { LedgerPrice } from '../../money/store/calls.ts';
import type { FileMember } from './file-reservations.ts';
import { type FileLength, plausible, unsupported } from './length.ts';

/** Whether the length of the audio decides what it costs. */
export const costsByLength = (members: readonly { own: boolean; price: LedgerPrice }[]): boolean =>
  members.some(({ own, price }) => !own && price.unit === 'minute' && price.microUsd > 0n);

/**
 * The chain with the channels that each member is paid for. Throws the Refusal `unsupported_audio` where nobody will know what to
 * charge: the file does not say how long it is, or how many channels it has, and a model that it may come to does not either.
 */
export function fileMembers(
  members: readonly ChainMember[],
  priced: readonly MeterMember[],
  { secondsMax, channels, seconds }: FileLength,
): FileMember[] {
  const isUnknown = seconds === undefined && costsByLength(priced);
  return priced.map((each, index) => {
    const member = members[index] as ChainMember;
    const isSilent = member.card.capabilities.segment_timestamps === false;
    const isEach = billsEachChannel(member);
    if (isUnknown && !each.own && (isSilent || isEach)) {
      const what = isEach ? 'how many channels of what length the file has' : 'how long the file is';
      throw unsupported(
        `Nobody can tell ${what}, and ${each.slug} ${isEach ? 'is billed by it' : 'does not say it'}. Convert it to WAV, FLAC or MP3, and send it again.`,
      );
    }
    if (isEach && !each.own) plausible(secondsMax * channels);
    return { ...each, channels: isEach ? channels : 1 };
  });
}

function billsEachChannel({ provider, params }: Pick<ChainMember, 'provider' | 'params'>): boolean {
  if (provider.batch?.kind !== 'http') return false;
  const { billsChannels } = provider.batch;
  return typeof billsChannels === 'object' ? params[billsChannels.whenAsked] === true : billsChannels === 'always';
}

/** The longest audio that every member of the chain would take at least one of. */
export const longestOf = (members: readonly ChainMember[]): number =>
  Math.max(...members.map(({ card }) => card.audio.max_seconds ?? Number.POSITIVE_INFINITY));
