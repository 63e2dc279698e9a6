// What the parts of one session report to each other. Listeners run at once, in the order in which they were added; what one of them
// throws reaches the part that reported.
import { EventEmitter } from 'node:events';
import type { LegFailure, SessionEndReason } from '../../../machines/events.ts';
import type { AbortCode, OrderlyCode } from './billing/end-charges.ts';

interface SignalArguments {
  /** The leg of this generation takes audio. */
  legReady: [generation: number];
  legFailed: [generation: number, failure: LegFailure];
  legFinished: [generation: number];
  /** Asked to finish with a `waitMs`, the leg takes longer than its provider needs as a rule, and is alive. */
  legOverdue: [generation: number];
  /** Whether the options that the leg was sent last are in force on its connection. */
  legReconfigured: [isInForce: boolean];
  /** What the client has sent is wanted now, even if it completes no frame. */
  audioWanted: [];
  /** More audio may leave: the pace, the leg or the money allows it. */
  audioAllowed: [];
  /** The session is to end at once. */
  abort: [code: AbortCode, message: string];
  /** The session is to end in order, after its last final. */
  stop: [reason: SessionEndReason, code: OrderlyCode, message: string];
  /** The gateway itself has failed. */
  fault: [name: string, error: unknown];
}

export class Signals extends EventEmitter<SignalArguments> {}
