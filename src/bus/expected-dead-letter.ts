// Which dead letters are none of anybody's fault: sessions and legs end at any time, and what was under way to them then comes
// too late. A request that nobody answers, and whatever else did not arrive, is something that an operator should know of.
import type { DeadLetterListener } from './bus.ts';
import { isAddress } from './subjects.ts';

/** Who has written knew the address from a letter or an answer: whoever had it was there, and has ended or is gone. */
export const isExpectedDeadLetter = ({ to, reason }: Parameters<DeadLetterListener>[0]): boolean =>
  (reason === 'unknown_actor' || reason === 'unknown_node') && (to === FORGOTTEN_ADDRESS || isAddress(to));

/** Stands for the address of a letter whose sender has ended since. */
export const FORGOTTEN_ADDRESS = 'forgotten';
