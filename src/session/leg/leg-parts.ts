// What the current leg of a session works with, tells it, and is told before it is opened.
import type { LegFailure } from '../../../machines/events.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { Ticket } from '../../failover/admission.ts';
import type { Spending } from '../billing/spending.ts';
import type { Charts } from '../charts.ts';
import type { Turns } from '../turns/turns.ts';
import type { SessionDelays } from '../watch/session-delays.ts';
import type { SessionLog } from '../watch/session-log.ts';

/** The parts of the session that its leg works with. */
export interface CurrentLegParts {
  pipeline: AudioPipeline;
  charts: Pick<Charts, 'tell'>;
  turns: Pick<Turns, 'hear'>;
  spending: Pick<Spending, 'sent' | 'starved'>;
  delays: Pick<SessionDelays, 'begin' | 'held' | 'sent'>;
  log: SessionLog;
}

export interface CurrentLegCalls {
  ready(generation: number): void;
  /** Its provider has said of itself that it is simulated. */
  simulated(): void;
  failed(generation: number, failure: LegFailure): void;
  finished(generation: number): void;
  /** Asked to finish with a `waitMs`, it takes longer than its provider needs as a rule, and is alive. */
  overdue(generation: number): void;
  /** Whether what it was asked for anew is in force on its connection. */
  reconfigured(isInForce: boolean): void;
  /** No node can be asked for the leg of that model. Gives whether audio waits for it. */
  waiting(slug: string): boolean;
  /** Chunks that wait for more of them have waited long enough. */
  takeWaiting(): void;
  fault(name: 'audio' | 'report', error: unknown): void;
}

/** What is to be known of an attempt before it is made. */
export interface LegAttempt {
  /** Its share of the retry budget, where it is a second one. */
  retry: Ticket | undefined;
  /** Whether another member of the chain could be tried instead. */
  hasOther(): boolean;
}
