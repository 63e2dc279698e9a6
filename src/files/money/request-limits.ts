// Whether a file keeps to the `max_cost` and `max_seconds` of its request. It is checked before a provider is sent the file, by the most
// audio that the file can hold: money is held for as much.
import { apiError } from '../../api/errors.ts';
import type { RequestLimits } from '../../api/request-limits.ts';
import { lineCostMicroUsd, usdOf } from '../../config/prices/price.ts';
import { boundMicroUsd } from '../../config/prices/reserve.ts';
import type { FileCandidate } from './file-reservations.ts';
import type { FileLength } from './length.ts';

/** Throws the ApiError `audio_too_long`. */
export function requireLength({ maxSeconds }: RequestLimits, { seconds, secondsMax }: FileLength): void {
  const longest = seconds ?? secondsMax;
  if (maxSeconds === undefined || longest <= maxSeconds) return;
  const found =
    seconds === undefined
      ? `The file does not say how long it is and may hold ${shown(longest)} s`
      : `The file is ${shown(longest)} s long`;
  throw apiError(
    'audio_too_long',
    `${found}; \`max_seconds\` is ${maxSeconds}. Split the file, or raise \`max_seconds\`.`,
    { param: 'max_seconds' },
  );
}

/**
 * Throws the ApiError `max_cost_reached` where one of the models could cost more.
 *
 * @param isShared whether several models may each transcribe some of it
 */
export function requireCost(
  { maxMicroUsd }: RequestLimits,
  members: readonly FileCandidate[],
  secondsMax: number,
  isShared: boolean,
): void {
  if (maxMicroUsd === undefined) return;
  const audioMs = Math.ceil(secondsMax * 1000);
  const costs = members.map((member) => ({
    slug: member.slug,
    microUsd: lineCostMicroUsd({ ...member, audioMs: audioMs * member.channels }),
  }));
  const [dearest] = costs.sort((one, other) => (one.microUsd < other.microUsd ? 1 : -1));
  const shared = isShared && members.length > 1 ? boundMicroUsd(members, audioMs) : 0n;
  const microUsd = dearest === undefined || shared > dearest.microUsd ? shared : dearest.microUsd;
  if (microUsd <= maxMicroUsd) return;
  throw apiError(
    'max_cost_reached',
    `The file may cost ${usdOf(microUsd)} USD with ${dearest?.slug}; \`max_cost\` is ${usdOf(maxMicroUsd)}. Raise it, split the file, or use a cheaper model.`,
    { param: 'max_cost' },
  );
}

const shown = (seconds: number): number => Math.round(seconds * 1000) / 1000;
