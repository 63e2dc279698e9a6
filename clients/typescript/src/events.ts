// The events of a session as its consumer sees them: the gateway's, and those of this side.
import type {
  Discontinuity,
  ErrorEvent,
  EventHead,
  Failover,
  SessionEnded,
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
 * The connection broke, and another session goes on where the last final ended: no final comes twice, and no word is lost. Where
 * more audio without a final was sent than `replaySecondsMax`, a `discontinuity` that follows says what is not heard again.
 */
export interface Reconnected extends EventHead {
  type: 'reconnected';
  /** Number of the attempt that succeeded, from 1. */
  attempt: number;
  /** Seconds of audio that were sent again; the gateway bills them again. */
  replayed_seconds: number;
  /** What broke the session before, in the words of the first `reconnecting`. */
  reason: string;
}

export type SessionEvent = ServerEvent | Reconnecting | Reconnected;

export const SERVER_EVENTS: ReadonlySet<string> = new Set<ServerEvent['type']>([
  'session_started',
  'speech_started',
  'transcript',
  'turn_eager_end',
  'turn_resumed',
  'turn_ended',
  'speakers_restarted',
  'failover',
  'warning',
  'discontinuity',
  'error',
  'session_ended',
]);
