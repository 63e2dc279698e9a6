// What a client is told of a file that is not whole, or more than one.
import type { Degradation } from '../../live/failover/chain.ts';
import type { FileLength } from '../money/length.ts';

export const damagedWarning: Degradation = {
  code: 'audio_damaged',
  message:
    'The file is cut off or damaged; only the audio that could be read was transcribed. Words may be missing, and times after the damage may be too early.',
};

const continuedWarning: Degradation = {
  code: 'audio_continues',
  message:
    'The WAV file continues after the samples that its header declares, for example with a second WAV file. Models may transcribe only the first part. Send one file for each recording.',
};

/** @param known warnings that the answer has already */
export function withFileWarnings({ isDamaged, goesOn }: FileLength, known: readonly Degradation[]): Degradation[] {
  const isTold = known.some(({ code }) => code === damagedWarning.code);
  return [...known, ...(isDamaged && !isTold ? [damagedWarning] : []), ...(goesOn ? [continuedWarning] : [])];
}
