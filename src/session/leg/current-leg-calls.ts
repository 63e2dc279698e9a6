// What a session is told by its end of a leg, and what that end is told of an attempt.
import type { Heard, LegFailure } from '../../../machines/events.ts';
import type { Ticket } from '../../failover/admission.ts';

/** What the session hears of its leg. */
export interface CurrentLegCalls {
  ready(generation: number): void;
  heard(heard: Heard): void;
  failed(generation: number, failure: LegFailure): void;
  finished(generation: number): void;
  /** The provider's limit on the leg's duration is near, or the leg's node is going away. */
  expiring(generation: number): void;
  /** The audio has ended and the leg was given all of it. Once for each leg. */
  drained(): void;
  /** Audio was given to the leg. */
  sent(): void;
  /** Audio is there, and may go no further for want of money. */
  starved(): void;
  /** No node can be asked for the leg of that model. Gives whether audio waits for it. */
  waiting(slug: string): boolean;
  /** Audio could not be read back. */
  fault(error: unknown): void;
}

/** What is to be known of an attempt before it is made. */
export interface LegAttempt {
  /** Its share of the retry budget, where it is a second one. */
  retry: Ticket | undefined;
  /** Whether another member of the chain could be tried instead. */
  hasOther(): boolean;
}
