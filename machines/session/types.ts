// What the session chart is given, remembers, hears and ends with. What it does with them is session.ts.
import type { LegFailure, SessionEndReason } from '../events.ts';

/** The error a session tells its client before it ends. `code` is a code of the error catalogue. */
export interface SessionError {
  code: string;
  message: string;
}

export interface SessionLimits {
  longestMs: number;
  /** How long a draining node lets a session continue without a turn boundary. */
  drainMs: number;
  /** First back-off; it doubles with each failed attempt of an incident. */
  backOffMs: number;
  settleMs: number;
  /** Retries of one model within an incident. */
  retries: number;
  /** Times the whole chain is begun again within an incident. */
  rounds: number;
  /** How long after the first failure of an incident there are further rounds, beyond those. */
  retryMs: number;
  /** A leg that has held for so long has got over what went wrong before. Longer than any leg may be silent while someone speaks. */
  steadyMs: number;
}

export interface SessionInput {
  sessionId: string;
  /** Slugs: the model, then its fallbacks. */
  chain: string[];
  /** Which of them is dialled first: not the first where its breaker is open. */
  first: number;
  limits: SessionLimits;
}

export interface SessionContext extends SessionInput {
  /** Which member of the chain carries the session. */
  index: number;
  /** The member that carries it from the end of this turn on: the client has changed what it asks for, the primary is back, or a cheaper one continues. */
  next: number | null;
  /** Number of the leg; what an older leg still says is dropped. */
  generation: number;
  /** Failed attempts of the current incident. An incident is over when a turn gets its final, or a leg has held. */
  attempts: { model: string; reason: string }[];
  failure: LegFailure | null;
  reason: SessionEndReason | null;
  error: SessionError | null;
}

export type SessionEvent =
  | { type: 'upstream.ready'; generation: number }
  | { type: 'upstream.failed'; generation: number; failure: LegFailure }
  | { type: 'upstream.finished'; generation: number }
  /** The provider's own limit on the leg's duration is near. */
  | { type: 'upstream.expiring'; generation: number }
  /**
   * The client has changed what it asks for: the chain continues behind its present members, which are tried no more. `next` is the
   * new one to begin with. `isInPlace`: the leg that is open is that of the new one already.
   */
  | { type: 'session.configured'; chain: string[]; next: number; steadyMs: number; isInPlace?: true }
  /** A turn has ended, and a leg of that member, which the session had before, is ready: it takes over. */
  | { type: 'session.returning'; index: number }
  /** A ceiling on spend is reached for the member that has the audio: that one, which is cheaper, takes over. */
  | { type: 'session.bounded'; index: number }
  /** This member of the chain is to be tried next. */
  | { type: 'failover.chosen'; index: number }
  /** The client said that no more audio comes, and the leg was given all there is. */
  | { type: 'audio.drained' }
  /** The audio has ended, every sample of it has its final, and no leg is there to confirm it. */
  | { type: 'audio.settled' }
  /** The leg was sent nothing for the suspension time, and there is nothing to send. */
  | { type: 'audio.quiet' }
  /** There is audio again, and no leg, or one that is being released and owes nothing. */
  | { type: 'audio.waiting' }
  | { type: 'client.close' }
  /** The client's socket is gone: the session finishes its work without a reader. */
  | { type: 'client.gone' }
  | { type: 'session.idle' }
  | { type: 'session.too_long' }
  /** End in order, after the last final: the backlog bound, no credit, a ledger that is away. */
  | { type: 'session.stop'; reason: SessionEndReason; error: SessionError | null }
  /** End now, as for a revoked key: what was not said stays unsaid, and a discontinuity names it. */
  | { type: 'session.abort'; reason: SessionEndReason; error: SessionError }
  | { type: 'node.drain' }
  | { type: 'turn.settled' };

export interface SessionOutput {
  reason: SessionEndReason;
  error: SessionError | null;
  attempts: { model: string; reason: string }[];
}
