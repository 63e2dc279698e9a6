// The events of a session as its consumer sees them: the gateway's, and those of this side.
import type {
  Configured,
  Discontinuity,
  ErrorEvent,
  EventHead,
  Failover,
  Received,
  SessionEnded,
  SessionResumed,
  SessionStarted,
  SpeakersRestarted,
  SpeechStarted,
  Transcript,
  TurnEagerEnd,
  TurnEnded,
  TurnResumed,
  Warning,
} from './types/events.ts';

/** What the gateway says. Events that this version does not know are passed over. */
export type ServerEvent =
  | SessionStarted
  | SpeechStarted
  | Transcript
  | TurnEagerEnd
  | TurnResumed
  | TurnEnded
  | SpeakersRestarted
  | Failover
  | Configured
  | Warning
  | Discontinuity
  | ErrorEvent
  | SessionEnded;

/** The connection broke, or could not be made again: another attempt follows. Audio that is given meanwhile is kept. */
export interface Reconnecting extends EventHead {
  type: 'reconnecting';
  /** Number of the attempt that follows, from 1. */
  attempt: number;
  /** Seconds until then. */
  wait_seconds: number;
  /** Why: code of the error that the gateway gave, else `close_` and the close code, as `close_1006`. */
  reason: string;
}

/**
 * The connection broke, and another is there: no final comes twice, and no word is lost. Within a minute the gateway's session goes
 * on (`resumed`); else a new one begins where the last final ended. Where more audio without a final was sent than
 * `replaySecondsMax`, a `discontinuity` that follows says what is not heard again.
 */
export interface Reconnected extends EventHead {
  type: 'reconnected';
  /** Number of the attempt that succeeded, from 1. */
  attempt: number;
  /** The same session goes on, with its turns, its speakers and its bill; else a new one began. */
  resumed: boolean;
  /** Seconds of audio that were sent again to a new session; the gateway bills them again. */
  replayed_seconds: number;
  /** What broke the connection before, in the words of the first `reconnecting`. */
  reason: string;
}

/** What it says to this side alone as well: how it goes on with a session. */
export type WireEvent = ServerEvent | Received | SessionResumed;

export type SessionEvent = ServerEvent | Reconnecting | Reconnected;

export const WIRE_EVENTS: ReadonlySet<string> = new Set<WireEvent['type']>([
  'session_started',
  'session_resumed',
  'received',
  'speech_started',
  'transcript',
  'turn_eager_end',
  'turn_resumed',
  'turn_ended',
  'speakers_restarted',
  'failover',
  'configured',
  'warning',
  'discontinuity',
  'error',
  'session_ended',
]);
