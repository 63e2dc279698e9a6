// Which dead letters are normal: a session or leg may end while messages to it are on their way. A request without an answer, and
// every other dead letter, is reported to the operator.
import type { DeadLetterListener } from './bus.ts';
import { isAddress } from './subjects.ts';

/** An address is only learned from a message or an answer, so its actor existed, and has ended since. */
export const isExpectedDeadLetter = ({ to, reason }: Parameters<DeadLetterListener>[0]): boolean =>
  (reason === 'unknown_actor' || reason === 'unknown_node') && (to === FORGOTTEN_ADDRESS || isAddress(to));

/** Stands for the recipient of a message when the sender's record of it is gone. */
export const FORGOTTEN_ADDRESS = 'forgotten';
